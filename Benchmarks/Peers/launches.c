// Times commands as whole processes, in turn (A B C A B C …), so that a machine whose speed drifts treats all alike.
//   launches ROUNDS LABEL COMMAND ARGUMENT… -- LABEL COMMAND ARGUMENT… -- …
// Prints for each the wall time and the largest resident memory.
#include "timing.h"
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

struct command {
  char *label, **arguments;
  double *milliseconds, *kibibytes;
};

int main(int argc, char **argv) {
  int rounds = atoi(argv[1]), count = 0;
  struct command commands[32];
  for (int i = 2; i < argc; i++) {
    struct command *command = &commands[count++];
    command->label = argv[i];
    command->arguments = &argv[i + 1];
    command->milliseconds = malloc(sizeof(double) * rounds);
    command->kibibytes = malloc(sizeof(double) * rounds);
    while (i < argc && strcmp(argv[i], "--")) i++;
    argv[i] = NULL;
  }
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
  for (int round = -3; round < rounds; round++)
    for (int i = 0; i < count; i++) {
      pid_t child;
      int status;
      struct rusage usage;
      double start = now_nanoseconds();
      if (posix_spawnp(&child, commands[i].arguments[0], &quiet, NULL, commands[i].arguments, environ)) {
        fprintf(stderr, "cannot start %s\n", commands[i].arguments[0]);
        return 1;
      }
      wait4(child, &status, 0, &usage);
      if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        fprintf(stderr, "%s failed\n", commands[i].label);
        return 1;
      }
      if (round < 0) continue;
      commands[i].milliseconds[round] = (now_nanoseconds() - start) / 1e6;
      commands[i].kibibytes[round] = usage.ru_maxrss;
    }
  for (int i = 0; i < count; i++) {
    char name[160];
    snprintf(name, sizeof name, "%s, time", commands[i].label);
    report(name, commands[i].milliseconds, rounds, "ms");
    snprintf(name, sizeof name, "%s, memory", commands[i].label);
    report(name, commands[i].kibibytes, rounds, "KiB");
  }
}
