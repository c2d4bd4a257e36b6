package io.millrace.cli.manual;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import picocli.CommandLine;

/** Examples of command lines, shown at the end of the help of the command that they are of. */
public final class Examples {
  private static final String FILE = "/io/millrace/cli/examples.txt";

  private Examples() {}

  /** The examples by the words of their command, for example {@code queues create}. */
  public static Map<String, List<String>> all() {
    Map<String, List<String>> examples = new LinkedHashMap<>();
    try (InputStream file = Objects.requireNonNull(Examples.class.getResourceAsStream(FILE));
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8))) {
      List<String> current = List.of();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith("[")) {
          current = new ArrayList<>();
          examples.put(line.substring(1, line.length() - 1), current);
        } else if (!line.isBlank() && !line.startsWith("#")) {
          current.add(line);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return examples;
  }

  /** Puts the examples into the help of a command and of all commands below it. */
  public static void addTo(CommandLine command) {
    add(command, all());
  }

  private static void add(CommandLine command, Map<String, List<String>> examples) {
    String name = command.getCommandSpec().qualifiedName();
    List<String> own = examples.get(name.substring(name.indexOf(' ') + 1));
    if (own != null && command.getSubcommands().isEmpty()) {
      command
          .getCommandSpec()
          .usageMessage()
          .footerHeading("%nExamples:%n")
          .footer(own.stream().map(line -> "  " + line.replace("%", "%%")).toArray(String[]::new));
    }
    command.getSubcommands().values().forEach(each -> add(each, examples));
  }
}
