package io.millrace.processes;

import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * What to run and where. Immutable. Strings are passed on in the platform's encoding; none may
 * contain the character 0.
 *
 * @param command the program and its arguments; no shell sees them. A program without a slash is
 *     looked for in the folders of PATH, as the program's own environment has it; one with a slash
 *     is a path, relative to the directory
 * @param environment variables that are added to those of this JVM, or replace them. Names are
 *     those that shells allow; inherited variables with other names may get lost on the way
 * @param directory the working directory
 * @param folder where everything about the process is kept; created if absent, and for this process
 *     alone
 * @param output what to keep of the output
 */
public record ProcessSpec(
    List<String> command,
    Map<String, String> environment,
    Path directory,
    Path folder,
    Output output) {
  /** How the system encodes strings, for example the arguments of programs. */
  static final Charset CHARSET = Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

  private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  /**
   * Checks and copies the parts, and makes the paths absolute.
   *
   * @throws IllegalArgumentException when the command is empty or starts with a dash, a variable's
   *     name is malformed, or a string contains the character 0
   */
  public ProcessSpec {
    command = List.copyOf(command);
    environment = Map.copyOf(environment);
    directory = directory.toAbsolutePath().normalize();
    folder = folder.toAbsolutePath().normalize();
    if (command.isEmpty() || command.getFirst().isEmpty()) {
      throw new IllegalArgumentException("the command is empty");
    }
    if (command.getFirst().startsWith("-")) {
      throw new IllegalArgumentException(
          "the command starts with a dash: "
              + command.getFirst()
              + "; write ./"
              + command.getFirst());
    }
    command.forEach(part -> checkText("the command", part));
    environment.forEach((name, value) -> {
      if (!VARIABLE.matcher(name).matches()) {
        throw new IllegalArgumentException(
            "not the name of an environment variable: \"" + name + "\"");
      }
      checkText("the environment variable " + name, value);
    });
  }

  /** A command in this JVM's directory and environment, whose output is kept separate. */
  public static ProcessSpec of(List<String> command, Path folder) {
    return new ProcessSpec(command, Map.of(), Path.of(""), folder, Output.SEPARATE);
  }

  /** The same with other variables added. */
  public ProcessSpec withEnvironment(Map<String, String> variables) {
    return new ProcessSpec(command, variables, directory, folder, output);
  }

  /** The same in another working directory. */
  public ProcessSpec withDirectory(Path other) {
    return new ProcessSpec(command, environment, other, folder, output);
  }

  /** The same with other output kept. */
  public ProcessSpec withOutput(Output other) {
    return new ProcessSpec(command, environment, directory, folder, other);
  }

  private static void checkText(String what, String text) {
    if (text.indexOf('\0') >= 0) {
      throw new IllegalArgumentException(what + " contains the character 0");
    }
  }
}
