package io.millrace.processes;

import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What to run, as {@code spawn.pl} reads it. */
final class StartRequest {
  /** How the system takes texts, as in arguments of programs. */
  static final Charset CHARSET = Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

  private StartRequest() {}

  /**
   * The length of the rest in ten digits, and then, with the character 0 between them: what to keep
   * of the output, the folder, whether there is a standard input, the directory, how many variables
   * follow, name and value of each, the command and its arguments.
   *
   * @param fed whether there is something in its standard input
   */
  static byte[] of(ProcessSpec spec, boolean fed) {
    List<String> parts = new ArrayList<>();
    parts.add(spec.output().name());
    parts.add(spec.folder().toString());
    parts.add(fed ? "1" : "");
    parts.add(spec.directory().toString());
    parts.add(Integer.toString(spec.environment().size()));
    spec.environment()
        .forEach((name, value) -> {
          parts.add(name);
          parts.add(value);
        });
    parts.addAll(spec.command());
    byte[] rest = String.join("\0", parts).getBytes(CHARSET);
    ByteArrayOutputStream request = new ByteArrayOutputStream(rest.length + 10);
    request.writeBytes(
        String.format(Locale.ROOT, "%010d", rest.length).getBytes(StandardCharsets.US_ASCII));
    request.writeBytes(rest);
    return request.toByteArray();
  }
}
