// The limit of reading YAML: libyaml's events over files, one thread, nothing kept.
//   yaml-events LABEL FILE…
#include "timing.h"
#include <yaml.h>

static long parse(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) { perror(path); exit(1); }
  fseek(file, 0, SEEK_END);
  long size = ftell(file), events = 0;
  rewind(file);
  unsigned char *bytes = malloc(size + 1);
  if (fread(bytes, 1, size, file) != (size_t)size) { perror(path); exit(1); }
  fclose(file);
  yaml_parser_t parser;
  yaml_event_t event;
  yaml_parser_initialize(&parser);
  yaml_parser_set_input_string(&parser, bytes, size);
  for (int done = 0; !done; events++) {
    if (!yaml_parser_parse(&parser, &event)) { fprintf(stderr, "%s: not YAML\n", path); exit(1); }
    done = event.type == YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  free(bytes);
  return events;
}

enum { repetitions = 3 };

int main(int argc, char **argv) {
  double values[repetitions];
  for (int round = 0; round < repetitions; round++) {
    double start = now_nanoseconds();
    for (int i = 2; i < argc; i++) result_sink += parse(argv[i]);
    values[round] = (now_nanoseconds() - start) / 1e6;
  }
  char name[160];
  snprintf(name, sizeof name, "libyaml events, %s", argv[1]);
  report(name, values, repetitions, "ms");
}
