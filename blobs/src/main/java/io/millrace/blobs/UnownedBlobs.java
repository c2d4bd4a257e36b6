package io.millrace.blobs;

import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Deletes blobs that no longer belong to anything. */
public final class UnownedBlobs {
  private UnownedBlobs() {}

  /**
   * Lists blobs first, and then asks who owns them: what gets an owner before it is listed is seen
   * to have one.
   *
   * @param prefix of the names to look at
   * @param candidate whether a name is one to look at
   * @param before blobs that were stored at this time or later are left alone: whoever stores them
   *     may be about to record them. Choose it by the longest time between the two
   * @param owned removes, from the names that were found, those that have an owner; not called if
   *     there are none
   * @throws BlobException if the store fails
   */
  public static void sweep(
      BlobStore blobs,
      String prefix,
      Instant before,
      Predicate<String> candidate,
      Consumer<Set<String>> owned) {
    Set<String> names = new HashSet<>();
    try (Stream<Blob> all = blobs.list(prefix)) {
      all.filter(blob -> blob.modified().isBefore(before))
          .map(Blob::name)
          .filter(candidate)
          .forEach(names::add);
    }
    if (!names.isEmpty()) {
      owned.accept(names);
      names.forEach(blobs::delete);
    }
  }
}
