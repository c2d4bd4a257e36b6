package io.millrace.store.journal.files;

import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Keeps what recovery delivers. */
final class Recorded implements Journal.Replay {
  final List<String> parts = new ArrayList<>();
  final List<String> frames = new ArrayList<>();
  final List<Long> sequences = new ArrayList<>();

  @Override
  public Runnable snapshotPart(ByteBuffer payload) {
    String part = text(payload);
    return () -> parts.add(part);
  }

  @Override
  public void reset() {
    parts.clear();
  }

  @Override
  public void frame(Frame frame) {
    sequences.add(frame.sequence());
    frames.add(text(frame.payload()));
  }

  static String text(ByteBuffer payload) {
    byte[] bytes = new byte[payload.remaining()];
    payload.duplicate().get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }

  /** A frame with one commit. */
  static Frame frame(long sequence, long durable, String payload) {
    return new Frame(sequence, 1, 77, 1_000 + sequence, durable, sequence, bytes(payload));
  }
}
