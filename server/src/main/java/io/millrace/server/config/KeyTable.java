package io.millrace.server.config;

import io.millrace.server.config.Configuration.Section;
import java.util.List;

/** The documentation of all keys, in Markdown. */
final class KeyTable {
  private static final String HEAD =
      """
      # Configuration

      The server, `millrace up`, reads a YAML file (`--config FILE`) and flags; a flag takes precedence over
      the file. Any key can be set with `--set KEY=VALUE`, for example `--set server.port=9000`, and some have
      a flag of their own, for example `--port 9000`. Otherwise the defaults apply. An unknown key or a value
      of another form stops the start with a message that names the key and the flag or line, and says what
      would be right.

      ```yaml
      server:
        port: 8048
        token-file: /etc/millrace/token
      store:
        data: /var/lib/millrace
        journal: strict
      ```

      Bytes are whole numbers, alone or followed by `KiB`, `MiB` or `GiB`. Durations are numbers
      followed by `ms`, `s`, `m`, `h` or `d`. This page is written from the code.
      """;

  private KeyTable() {}

  static String of(List<Section<?>> sections) {
    StringBuilder text = new StringBuilder(HEAD);
    for (Section<?> section : sections) {
      text.append("\n## ").append(section.name()).append("\n\n");
      text.append("| key | default | value | meaning |\n|---|---|---|---|\n");
      for (Key<?> key : section.keys()) {
        text.append(
            "| `%s.%s` | %s | %s | %s |\n"
                .formatted(section.name(), key.name(), key.shown(), key.form(), key.meaning()));
      }
    }
    return text.toString();
  }
}
