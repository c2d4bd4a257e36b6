package io.millrace.graph.type;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A program that a node runs.
 *
 * @param command it and its arguments
 * @param environment variables in addition to those of the server
 * @param directory where it runs
 * @param stdin what it can read
 */
record Program(
    List<String> command, Map<String, String> environment, Path directory, String stdin) {
  Program {
    command = List.copyOf(command);
    environment = Map.copyOf(environment);
  }
}
