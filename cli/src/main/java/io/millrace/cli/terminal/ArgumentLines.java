package io.millrace.cli.terminal;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Arguments of which one may be {@code -}, for the lines of standard input. */
public final class ArgumentLines {
  private ArgumentLines() {}

  /**
   * The arguments in order, and in place of {@code -} the lines of standard input that are not
   * blank, without the white space around them.
   *
   * @param check gives each as it is to be used
   * @throws UsageException where {@code check} throws it
   */
  public static List<String> read(
      List<String> arguments, Terminal terminal, UnaryOperator<String> check) throws IOException {
    List<String> read = new ArrayList<>();
    for (String argument : arguments) {
      if (!argument.equals("-")) {
        read.add(check.apply(argument));
        continue;
      }
      // Not closed, since it is not ours to close.
      var lines = new BufferedReader(new InputStreamReader(terminal.in(), StandardCharsets.UTF_8));
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (!line.isBlank()) {
          read.add(check.apply(line.strip()));
        }
      }
    }
    return read;
  }
}
