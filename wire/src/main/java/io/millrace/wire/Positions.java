package io.millrace.wire;

import io.millrace.store.Position;

/** Positions on the wire: the string that {@link Position#toString} gives. */
final class Positions {
  private Positions() {}

  static Position read(JsonInput in) {
    String text = in.text();
    try {
      return Position.parse(text);
    } catch (IllegalArgumentException _) {
      throw in.wrong("is not a position: \"" + text + "\"");
    }
  }
}
