/* SPDX-License-Identifier: Apache-2.0 */
/* The call log: one JSON line per event, appended to a shared memory-mapped file by every component of a case.
 *
 * The file outlives the process however it dies. Lines of all components and processes stand in one order: the
 * order in which they reserved their place. Python's reader is `harness.calllog.reader`.
 */
#ifndef CLHARNESS_CALLLOG_H
#define CLHARNESS_CALLLOG_H

#include <stddef.h>
#include <stdint.h>

enum { CALLLOG_LINE = 4096, CALLLOG_HEADER = 4096 };

/* What a line tells: that a function was called, that it returned, or anything else. */
enum calllog_kind { CALLLOG_CALL = 'c', CALLLOG_RETURN = 'r', CALLLOG_EVENT = 'e' };

/* A log opened by one component. All functions accept a log that failed to open and then do nothing. */
struct calllog {
    unsigned char *map;
    size_t size;            /* of all lines, in bytes */
    uint64_t start;         /* what lines are relative to, the same for all components: nanoseconds */
    uint64_t thread;        /* and the thread that opened the log first */
    _Atomic size_t touched; /* the pages of the map before this one need no fault, but for those never written to */
    _Atomic size_t run;     /* how many of them were touched one after the other */
};

/* A line under construction; what does not fit is cut, and the line says so with "cut":1. */
struct calllog_line {
    size_t length;
    size_t head; /* bytes before the members; no longer than that: there are none yet */
    int depth;   /* open objects */
    int cut;
    char text[CALLLOG_LINE];
};

/* Maps the log file at `path`, made by Python with its full size. Returns 0, or -1 with errno set. */
int calllog_open(struct calllog *log, const char *path);
void calllog_close(struct calllog *log);

/* Starts a line: a list of numbers, component and name, and of an object where members are written, with the functions
 * below:
 *
 *   ["c <time> <thread> <argument>…","<component>","<function>",{"in":{…}}]
 *   ["r <time> <thread> <result>","<component>","<function>",{"out":{…}}]
 *   ["e <time> <thread> <argument>…","<component>","<name>",{"detail":"…"}]
 *
 * `values` are the arguments, 64 at most, or the result. Numbers are hexadecimal, without 0x: the time in nanoseconds
 * after the header's, the thread as exclusive or with the header's. A name has 128 bytes at most. */
void calllog_begin(const struct calllog *log, struct calllog_line *line, enum calllog_kind kind, const char *who,
                   const char *name, const uint64_t *values, size_t count);
/* ,"key":"0x…" */
void calllog_hex(struct calllog_line *line, const char *key, uint64_t value);
/* ,"key":"text" with everything but printable ASCII escaped as \u00XX, at most 512 bytes of it */
void calllog_string(struct calllog_line *line, const char *key, const char *text, size_t length);
/* ,"key":["0x…",…] */
void calllog_words(struct calllog_line *line, const char *key, const uint64_t *values, size_t count);
/* ,"key":{  and  } : members are written between with the functions above; 16 deep at most */
void calllog_open_object(struct calllog_line *line, const char *key);
void calllog_close_object(struct calllog_line *line);
/* Ends the line and appends it. */
void calllog_commit(struct calllog *log, struct calllog_line *line);

#endif
