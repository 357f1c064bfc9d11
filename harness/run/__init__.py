# SPDX-License-Identifier: Apache-2.0
"""One run, from the selection of cases to the report, so that no result can be lost.

    plan      collection.py  pytest collects the suites once, in this process; each case gets its number, and the lint
                             looks at all of them (lint.py, assertions.py)
    pool      pool.py        workers are forked from that process; each takes the next case when it is done with one.
                             One that dies is replaced, one that is stopped goes on, one that is never done is ended;
                             what it leaves behind is ended with it (orphans.py)
    case      worker.py      runs a case by pytest's protocol: fixtures (plugin.py), check, clean-up
    record    results.py     makes the one record of a case when it has ended (cases.py): verdict, message, call log,
                             files, a kept sandbox with its replay.sh (replay.py) or C program (reproducer.py).
              lost.py        makes it for a case whose worker was lost
    judge                    harness.report.judge, once, where the record is made: is that as expected?
    journal                  harness.report.jsonl: the record is a line on disk as soon as the case has ended
    report    session.py     hands records to harness.report.Reporter, which prints and writes the rest at the end

command.py puts these together for `clharness loader|layer|icd`: it calls pytest, whose loop is replaced by that of
loop.py. Signals end the run in order at any time (interrupts.py), and `--resume` goes on from the records of a run
that was cut short (resume.py). plan.py says which cases run, in which order and how often. Under plain pytest, with
pytest-xdist or without, pytest's own loop runs the cases, and the same results.py and session.py make and take the
records. The self-tests use pool.py with tasks of their own.

tested.py is what all of them ask about the subject.
"""
