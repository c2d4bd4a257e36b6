package io.millrace.processes;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * The scripts between a launcher and a program, as {@code sh -c} takes them, and {@link #SPAWN} as
 * {@code perl -e} does.
 */
final class Scripts {
  static final String SUPERVISE = load("supervise.sh");
  static final String BEGIN = load("begin.sh");
  static final String SPAWN = load("spawn.pl");

  private Scripts() {}

  private static String load(String name) {
    try (InputStream in = Scripts.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new ProcessException("the script " + name + " is missing from the class path");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new ProcessException("the script " + name + " cannot be read: " + e, e);
    }
  }
}
