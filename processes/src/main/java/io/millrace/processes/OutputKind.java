package io.millrace.processes;

import java.util.Locale;

/** Which of a program's outputs. */
public enum OutputKind {
  /** What it wrote to its standard output. */
  STDOUT,
  /** What it wrote to its standard error. */
  STDERR,
  /** Both, in order of arrival as far as {@link Output} says. */
  MIXED;

  String fileName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
