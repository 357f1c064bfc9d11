/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the probe's commands: which line finds which row, and what is said of a line that finds none. */
#include "topics.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

__attribute__((format(printf, 2, 3))) static void check(bool good, const char *format, ...)
{
    va_list list;
    if (!good) {
        failures++;
        va_start(list, format);
        vfprintf(stderr, format, list);
        va_end(list);
        fputc('\n', stderr);
    }
}

/* --- a topic for these tests: commands that say what they were given --- */

static void echo(const struct argument *a, const struct reply *reply)
{
    char text[512] = "ok";
    for (unsigned i = 0; i < argument_count(a); i++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, " %s/%zu/%lld", a[i].text, a[i].length, (long long)a[i].value);
    }
    reply_write(reply, "%s", text);
}

static void first(const struct argument *a, const struct reply *reply)
{
    (void)a;
    reply_write(reply, "ok first");
}

static void second(const struct argument *a, const struct reply *reply)
{
    (void)a;
    reply_write(reply, "ok second");
}

static int forgotten;

static void forget(void)
{
    forgotten++;
}

static bool find_seven(const char *name, uint64_t *value)
{
    *value = 7;
    return strcmp(name, "seven") == 0;
}

static const struct command rows[] = {
    {"nothing", "", echo, false},
    {"numbers", "SIZE OFFSET", echo, false},
    {"values", "RESULT TOKEN...", echo, false},
    {"bytes", "HEX", echo, false},
    {"hold", "NAME LINE", echo, true},
    {"choose", "RESULT here", first, false},
    {"choose", "RESULT there SIZE", second, false},
    {"choose", "RESULT there SIZE SIZE", first, false},
    {0},
};
static const struct command_table table = {.rows = rows, .forget = forget, .prefix = '%', .find = find_seven};
static const struct command own_rows[] = {{"own", "SIZE", echo, false}, {0}};
static const struct command_table own_table = {.rows = own_rows, .own = true};
static const struct command_table *const tables[] = {&table, &own_table, NULL};

/* The reply to a line; the room is that of a short one at first. Lives until the next call. */
static const char *reply_to(const char *line)
{
    static char *reply;
    static size_t room = 256;
    char *copy = strdup(line);
    reply = reply ? reply : malloc(room);
    if (!copy || !reply) {
        exit(2);
    }
    command_execute(copy, &reply, &room);
    free(copy);
    return reply;
}

static void expect(const char *line, const char *reply)
{
    const char *actual = reply_to(line);
    check(strcmp(actual, reply) == 0, "'%s' has the reply '%s', expected '%s'", line, actual, reply);
}

/* --- tests --- */

static void test_own_commands(void)
{
    check(command_is_own("own 5\nnothing\n") && command_is_own("own"), "a command of a table of its own is not one");
    check(!command_is_own("nothing\nown 5\n") && !command_is_own("owner 5\n") && !command_is_own("\n"),
          "a command of another table is the probe's own");
}

static void test_arguments(void)
{
    expect("nothing", "ok");
    expect("numbers 12 -3", "ok 12/2/12 -3/2/-3");
    expect("numbers 0x10 0", "ok 0x10/4/16 0/1/0");
    expect("values 1", "ok 1/1/1");
    expect("values 1 -1 0x7f %seven", "ok 1/1/1 -1/2/-1 0x7f/4/127 %seven/6/7");
    expect("bytes 414243", "ok ABC/3/0");
    expect("bytes ", "ok /0/0");
    expect("hold x nothing at all", "ok x/1/0 nothing at all/14/0");
    expect("hold x ", "ok x/1/0 /0/0");
}

static void test_unknown_commands(void)
{
    expect("nonsense", "error nonsense: unknown command");
    expect("nonsense 1 2", "error nonsense: unknown command");
    expect("noth", "error noth: unknown command");
    expect("nothings", "error nothings: unknown command");
    expect("", "error : unknown command");
    expect(" nothing", "error : unknown command");
}

static void test_too_few_and_too_many(void)
{
    const char *numbers = "error numbers: wrong arguments; expected 'numbers SIZE OFFSET'";
    expect("numbers", numbers);
    expect("numbers 1", numbers);
    expect("numbers 1 2 3", numbers);
    expect("numbers 1 2 ", numbers);
    expect("nothing 1", "error nothing: wrong arguments; expected 'nothing'");
    expect("values", "error values: wrong arguments; expected 'values RESULT TOKEN...'");
    expect("bytes", "error bytes: wrong arguments; expected 'bytes HEX'");
    expect("hold x", "error hold: wrong arguments; expected 'hold NAME LINE'");
}

static void test_malformed_arguments(void)
{
    static const char *const numbers[] = {"x", "1x", "-1", "", "0x", "1.5", "+1", "99999999999999999999"};
    char line[64];
    char reply[160];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(line, sizeof line, "numbers %s 1", numbers[i]);
        snprintf(reply, sizeof reply,
                 "error numbers: argument 1, '%s', is not a number of 0 or more; expected 'numbers SIZE OFFSET'",
                 numbers[i]);
        expect(line, reply);
    }
    expect("numbers 1 -", "error numbers: argument 2, '-', is not a number; expected 'numbers SIZE OFFSET'");
    expect("values 1 2 b9", "error values: argument 3, 'b9', is not the name of a value; expected 'values RESULT "
                            "TOKEN...'");
    expect("values 1 %six", "error values: argument 2, '%six', is not the name of a value; expected 'values RESULT "
                            "TOKEN...'");
    expect("bytes 4g", "error bytes: argument 1, '4g', is not bytes in hexadecimal; expected 'bytes HEX'");
    expect("bytes 414", "error bytes: argument 1, '414', is not bytes in hexadecimal; expected 'bytes HEX'");
}

static void test_rows_of_one_name(void)
{
    expect("choose 1 here", "ok first");
    expect("choose 1 there 2", "ok second");
    expect("choose 1 there 2 3", "ok first");
    const char *error = "error choose: wrong arguments; expected 'choose RESULT here' or 'choose RESULT there SIZE' or "
                        "'choose RESULT there SIZE SIZE'";
    expect("choose", error);
    expect("choose 1 nowhere", error);
    expect("choose 1 here 2", error);
    expect("choose 1 ther 2", error);
    expect("choose x here", "error choose: argument 1, 'x', is not a number of 0 or more; expected 'choose RESULT "
                            "here'");
}

static void test_limits(void)
{
    char line[4096] = "values 1";
    size_t length = strlen(line);
    for (int i = 2; i <= MAX_ARGUMENTS; i++, length += 2) {
        memcpy(line + length, " 2", 3);
    }
    check(strncmp(reply_to(line), "ok 1/1/1 2/1/2 ", 15) == 0, "%d arguments are refused", MAX_ARGUMENTS);
    memcpy(line + length, " 2", 3);
    expect(line, "error values: more than 47 arguments");
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    check(strncmp(reply_to(line), "error xxx", 9) == 0, "a long name is not an unknown command");
    check(strlen(reply_to(line)) < 256, "an error is longer than its room");
}

static void test_nesting_and_forgetting(void)
{
    check(!command_can_nest("hold x nothing"), "hold may stand within another line");
    check(command_can_nest("nothing") && command_can_nest("holdx"), "plain lines may not stand within another one");
    commands_forget();
    check(forgotten == 1, "a topic was asked %d times to forget", forgotten);
}

/* Every row of the probe says its arguments in words that have a meaning. */
static void test_rows_of_the_probe(void)
{
    int count = 0;
    for (const struct command_table *const *topic = topics; *topic; topic++) {
        for (const struct command *row = (*topic)->rows; row->name; row++, count++) {
            check(command_arguments_are_known(row->arguments), "%s: unknown arguments '%s'", row->name, row->arguments);
            check(row->run != NULL, "%s has no function", row->name);
        }
    }
    check(count > 40, "there are only %d rows", count);
    check(!command_arguments_are_known("BUFER"), "a word that nobody knows is taken for an argument");
    check(!command_arguments_are_known("LINE SIZE"), "something may follow a line");
    check(!command_arguments_are_known("TOKEN... SIZE"), "something may follow what repeats");
    check(!command_arguments_are_known("SIZE  SIZE"), "two spaces stand between words");
}

int main(void)
{
    commands_use(tables);
    test_own_commands();
    test_arguments();
    test_unknown_commands();
    test_too_few_and_too_many();
    test_malformed_arguments();
    test_rows_of_one_name();
    test_limits();
    test_nesting_and_forgetting();
    test_rows_of_the_probe();
    printf("%d failures\n", failures);
    return failures != 0;
}
