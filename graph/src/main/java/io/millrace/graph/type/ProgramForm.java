package io.millrace.graph.type;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.graph.GraphException.InvalidGraphException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads from a node's data which program it runs. */
final class ProgramForm {
  static final String COMMAND = "command";
  static final String ARGS = "args";
  static final String SHELL = "shell";
  static final String ENV = "env";
  static final String CWD = "cwd";
  static final String STDIN = "stdin";

  /**
   * The most bytes of one argument, or of a variable with its name: the limit of Linux is 128 KiB
   * with its end.
   */
  static final int MAX_ARGUMENT_BYTES = (128 << 10) - 1;

  /**
   * The most bytes of all of them, each with its end and a pointer: a part of the 2 MiB of Linux,
   * since the server's own variables are added.
   */
  static final int MAX_PROGRAM_BYTES = 3 << 19;

  private static final int BESIDE_ARGUMENT = 9;

  private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  /** The keys of data that name a program in either form. */
  private static final List<String> EITHER = List.of(COMMAND, ARGS, SHELL, ENV, CWD, STDIN);

  private ProgramForm() {}

  /** The keys of both forms, with others of a type and those of every attempt. */
  static Set<String> keysWith(String... others) {
    List<String> keys = new ArrayList<>(EITHER);
    Collections.addAll(keys, others);
    return RunPolicy.keysWith(keys.toArray(String[]::new));
  }

  /** The program that {@code command} and {@code args} name. */
  static Program command(Inputs inputs) {
    String command = inputs.text(COMMAND);
    if (command.startsWith("-")) {
      throw new InvalidGraphException("command starts with a dash: " + command);
    }
    List<String> line = new ArrayList<>(List.of(command));
    line.addAll(inputs.texts(ARGS));
    checkArgument(COMMAND, command);
    for (int i = 1; i < line.size(); i++) {
      checkArgument(ARGS + " " + i, line.get(i));
    }
    return with(line, inputs);
  }

  /** The script for bash in the value of a key. */
  static Program shell(String key, Inputs inputs) {
    // Without the dashes, a script that begins with one would be taken for options.
    String script = inputs.text(key);
    checkArgument(key, script);
    return with(List.of("bash", "-c", "--", script), inputs);
  }

  /** The program in the form that is used, by which of {@code command} and {@code shell} is set. */
  static Program either(Inputs inputs) {
    return inputs.has(SHELL) ? shell(SHELL, inputs) : command(inputs);
  }

  private static Program with(List<String> line, Inputs inputs) {
    Map<String, String> environment = inputs.textByName(ENV);
    for (String name : environment.keySet()) {
      if (!VARIABLE.matcher(name).matches()) {
        throw new InvalidGraphException(
            "env names a variable \"" + name + "\"; letters, digits and _ are allowed");
      }
    }
    List<String> all = new ArrayList<>(line);
    environment.forEach((name, value) -> {
      all.add(name + "=" + value);
      checkArgument("env " + name, all.getLast());
    });
    checkTogether(all);
    String stdin = inputs.optionalText(STDIN).orElse("");
    return new Program(line, environment, directory(inputs), stdin);
  }

  private static void checkArgument(String what, String text) {
    int bytes = bytes(text);
    if (bytes > MAX_ARGUMENT_BYTES) {
      throw new InvalidGraphException(
          String.format(
              "%s has %,d bytes; the system takes up to %,d in one argument or variable, so give"
                  + " the program more by stdin or a file",
              what, bytes, MAX_ARGUMENT_BYTES));
    }
  }

  private static void checkTogether(List<String> all) {
    long bytes = all.stream().mapToLong(it -> bytes(it) + BESIDE_ARGUMENT).sum();
    if (bytes > MAX_PROGRAM_BYTES) {
      throw new InvalidGraphException(
          String.format(
              "args and env take %,d bytes together, with %d for each beside its text; up to %,d"
                  + " are taken",
              bytes, BESIDE_ARGUMENT, MAX_PROGRAM_BYTES));
    }
  }

  private static int bytes(String text) {
    return text.getBytes(UTF_8).length;
  }

  private static Path directory(Inputs inputs) {
    String text = inputs.optionalText(CWD).orElse("");
    if (!inputs.has(CWD)) {
      return Path.of("").toAbsolutePath();
    }
    return absolute(CWD, text);
  }

  /** Checks that a path does not depend on where the server runs. */
  static Path absolute(String key, String text) {
    try {
      Path path = Path.of(text);
      if (path.isAbsolute()) {
        return path;
      }
    } catch (InvalidPathException e) {
      throw new InvalidGraphException(key + " is no path: " + e.getMessage());
    }
    throw new InvalidGraphException(key + " must be an absolute path, not \"" + text + "\"");
  }

  /**
   * A program that a node runs.
   *
   * @param command the program and its arguments
   * @param environment variables in addition to those of the server
   * @param directory where it runs
   * @param stdin its standard input
   */
  record Program(
      List<String> command, Map<String, String> environment, Path directory, String stdin) {
    Program {
      command = List.copyOf(command);
      environment = Map.copyOf(environment);
    }
  }
}
