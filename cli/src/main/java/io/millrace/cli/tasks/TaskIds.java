package io.millrace.cli.tasks;

import java.util.AbstractList;
import java.util.Arrays;
import java.util.HexFormat;

/** Ids of tasks, in twelve bytes each: there may be millions. */
final class TaskIds extends AbstractList<String> {
  private static final int BYTES = 12;
  private static final HexFormat HEX = HexFormat.of();

  private byte[] bytes = new byte[64 * BYTES];
  private int size;

  /** Adds an id of 24 hex digits. */
  @Override
  public boolean add(String id) {
    if ((size + 1) * BYTES > bytes.length) {
      bytes = Arrays.copyOf(bytes, 2 * bytes.length);
    }
    byte[] parsed = HEX.parseHex(id);
    System.arraycopy(parsed, 0, bytes, size * BYTES, BYTES);
    size++;
    return true;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public String get(int index) {
    return HEX.formatHex(bytes, index * BYTES, (index + 1) * BYTES);
  }
}
