/* What the mock ICD can do wrong with external memory, semaphores and command buffers; faults.h explains the form. */
