package io.millrace.work;

import io.millrace.store.Commit;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A stream of changes of documents as a layer reads them, each once and in order. For use by one
 * thread; to be closed.
 *
 * @param <E> what a layer reads from a change
 */
public final class DocumentChanges<E> implements AutoCloseable {
  private final Subscription commits;
  private final Reader<E> reader;

  /** Reads the changes of a subscription; closes it at the end. */
  public DocumentChanges(Subscription commits, Reader<E> reader) {
    this.commits = commits;
    this.reader = reader;
  }

  /** How a layer reads a change. */
  @FunctionalInterface
  public interface Reader<E> {
    /**
     * Reads one change.
     *
     * @param document what the document is now; null if it was deleted
     * @return null if the change is to be left out
     */
    @Nullable E read(DocumentKey key, @Nullable Document document);
  }

  /**
   * What changed in one commit.
   *
   * @param position after which to go on
   * @param timeMillis the store time of the commit
   * @param events in order; empty if the reader left out all
   */
  public record Changed<E>(Position position, long timeMillis, List<E> events) {
    /** Reads a commit. */
    public static <E> Changed<E> read(Commit commit, Reader<E> reader) {
      List<E> events = new ArrayList<>();
      commit.forEachDocument((key, document) -> {
        E event = reader.read(key, document);
        if (event != null) {
          events.add(event);
        }
      });
      return new Changed<>(commit.position(), commit.timeMillis(), events);
    }
  }

  /** The position at which the stream began: all changes are after it. */
  public Position start() {
    return commits.start();
  }

  /**
   * The changes of the next commit, waiting for it.
   *
   * @param timeout how long to wait in real time
   * @return null when the time is over
   * @throws PositionLostException if the stream was read too slowly
   */
  public @Nullable Changed<E> next(Duration timeout) throws InterruptedException {
    Commit commit = commits.next(timeout);
    return commit == null ? null : Changed.read(commit, reader);
  }

  @Override
  public void close() {
    commits.close();
  }
}
