package io.millrace.cli.tasks;

import java.util.Arrays;
import java.util.HexFormat;

/** Ids of tasks, in twelve bytes each. */
final class TaskIds {
  private static final int BYTES = 12;
  private static final HexFormat HEX = HexFormat.of();

  private byte[] bytes = new byte[64 * BYTES];
  private int size;

  /** Adds an id of 24 hex digits. */
  void add(String id) {
    if ((size + 1) * BYTES > bytes.length) {
      bytes = Arrays.copyOf(bytes, 2 * bytes.length);
    }
    byte[] parsed = HEX.parseHex(id);
    System.arraycopy(parsed, 0, bytes, size * BYTES, BYTES);
    size++;
  }

  int size() {
    return size;
  }

  String get(int index) {
    return HEX.formatHex(bytes, index * BYTES, (index + 1) * BYTES);
  }
}
