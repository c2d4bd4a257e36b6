package io.millrace.graph;

import java.util.Locale;

/** Which children of a condition run. */
public enum Branch {
  /** Where it holds. */
  THEN,
  /** Where it does not. */
  ELSE;

  /** The name in the API: lower case. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
