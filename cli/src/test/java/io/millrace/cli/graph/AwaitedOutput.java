package io.millrace.cli.graph;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

/** Output that signals when a text has been written. */
final class AwaitedOutput extends ByteArrayOutputStream {
  private final String awaited;
  private final CompletableFuture<Boolean> seen = new CompletableFuture<>();

  AwaitedOutput(String awaited) {
    this.awaited = awaited;
  }

  @Override
  public synchronized void write(byte[] bytes, int offset, int length) {
    super.write(bytes, offset, length);
    if (!seen.isDone() && toString(StandardCharsets.UTF_8).contains(awaited)) {
      seen.complete(true);
    }
  }

  CompletableFuture<Boolean> seen() {
    return seen;
  }
}
