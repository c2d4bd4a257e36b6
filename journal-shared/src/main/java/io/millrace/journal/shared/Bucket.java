package io.millrace.journal.shared;

import io.millrace.store.journal.JournalException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * A place for objects under keys, such as a bucket: all that {@link BucketHome} needs of it. Each
 * method takes place as a whole, and whoever reads afterwards, anywhere, sees it. If one throws
 * {@link IOException}, it may have taken place, or may still take place. Keys have at most 100
 * letters, digits, {@code -} and {@code /}. Thread-safe.
 */
public interface Bucket extends AutoCloseable {
  /**
   * Checks that the bucket can be reached, and that none of its settings removes objects.
   *
   * @throws JournalException if it may lose some
   */
  void check() throws IOException;

  /**
   * The same as {@link #check}, and tries {@link #create} as {@link #requireOneWinner} does, unless
   * this process has done that.
   *
   * @throws JournalException if it may lose some, or does not keep what {@code create} promises
   */
  void prepare() throws IOException;

  /**
   * Creates an object, if there is none with this key.
   *
   * @param content at most 9 MiB
   * @return whether there was none; of several callers one gets true
   */
  boolean create(String key, byte[] content) throws IOException;

  /** Creates or replaces an object. */
  void put(String key, byte[] content) throws IOException;

  /** The content of an object; null if there is none. */
  byte @Nullable [] get(String key) throws IOException;

  /** The contents of several objects, in order; by default, one after the other. */
  default List<byte @Nullable []> getAll(List<String> keys) throws IOException {
    List<byte @Nullable []> contents = new ArrayList<>();
    for (String key : keys) {
      contents.add(get(key));
    }
    return contents;
  }

  /**
   * The first keys that begin with {@code prefix} and come after {@code after}, in the order of
   * their bytes.
   *
   * @param after empty for the first
   * @param most the most keys to return, 1 to 1,000; fewer only if there are no more
   */
  List<String> list(String prefix, String after, int most) throws IOException;

  /** Deletes objects, at most 1,000; those that are not there are passed over. */
  void delete(List<String> keys) throws IOException;

  /** Releases what it holds. */
  @Override
  void close();

  /** Gets several objects at once, each by a call of {@link #get}; they are in order. */
  static List<byte @Nullable []> getAtOnce(Bucket bucket, List<String> keys) throws IOException {
    List<Future<byte @Nullable []>> reads = new ArrayList<>();
    List<byte @Nullable []> contents = new ArrayList<>();
    if (keys.size() == 1) {
      contents.add(bucket.get(keys.getFirst()));
      return contents;
    }
    try (ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
      for (String key : keys) {
        reads.add(readers.submit(() -> bucket.get(key)));
      }
      for (Future<byte @Nullable []> read : reads) {
        contents.add(read.get());
      }
      return contents;
    } catch (ExecutionException e) {
      throw new IOException(e.getCause() == null ? "failed" : e.getCause().getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /**
   * Has 32 callers create the same object at once, and checks that one of them does, as some
   * programs that speak the protocol of a bucket take no notice of the condition.
   *
   * @param place the bucket, for messages
   * @throws JournalException if there are more, or the object is not that of the one
   */
  static void requireOneWinner(Bucket bucket, String place) throws IOException {
    String key = "probe/" + UUID.randomUUID();
    List<Future<Boolean>> creations = new ArrayList<>();
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      for (byte caller = 0; caller < 32; caller++) {
        byte[] content = {caller};
        creations.add(callers.submit(() -> bucket.create(key, content)));
      }
    }
    List<Integer> winners = new ArrayList<>();
    for (int caller = 0; caller < creations.size(); caller++) {
      Future<Boolean> creation = creations.get(caller);
      if (creation.state() == Future.State.SUCCESS && creation.resultNow()) {
        winners.add(caller);
      } else if (creation.state() == Future.State.FAILED
          && creation.exceptionNow() instanceof JournalException refusal) {
        throw refusal;
      }
    }
    byte[] stored = bucket.get(key);
    bucket.delete(List.of(key));
    if (winners.size() > 1
        || stored == null
        || (winners.size() == 1 && stored[0] != winners.getFirst())) {
      throw new JournalException(
          place
              + " does not keep conditions: of 32 callers that created one object at once, "
              + winners.size()
              + " were told that they had, so it cannot tell which server leads");
    }
  }
}
