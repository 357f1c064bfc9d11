/* What the mock ICD can do wrong with property lists and the queries of objects; faults.h explains the form. */
