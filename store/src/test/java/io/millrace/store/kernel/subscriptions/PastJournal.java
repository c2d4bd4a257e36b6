package io.millrace.store.kernel.subscriptions;

import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** A journal that is only read, by whatever a test gives it. */
final class PastJournal implements Journal.Leader {
  private final LongFunction<Journal.@Nullable Reader> readers;

  PastJournal(LongFunction<Journal.@Nullable Reader> readers) {
    this.readers = readers;
  }

  @Override
  public Journal.@Nullable Reader read(long position) {
    return readers.apply(position);
  }

  @Override
  public Journal.Tail tail() {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletableFuture<Void> append(Frame frame) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Journal.SnapshotWriter snapshot(Frame frame) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void trim(long keepAfterPosition) {
    throw new UnsupportedOperationException();
  }
}
