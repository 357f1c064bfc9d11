/* What the mock ICD can do wrong with OpenGL and EGL sharing; faults.h explains the form. */
