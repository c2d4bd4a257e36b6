package io.millrace.blobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.SequenceInputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a {@link DatabaseBlobStore} does with any {@link BlobTables}. */
public abstract class DatabaseBlobStoreContract extends BlobStoreContract {
  private static final int CHUNK = 1 << 20;

  private final AtomicReference<Instant> now = new AtomicReference<>(Instant.now());
  private BlobStore blobs;

  /** Opens the blobs of a store of this name; their clock is {@link #now}. */
  protected abstract BlobStore open(String store) throws Exception;

  /** How many contents the store {@code main} has, with a name or without. */
  protected abstract long contents();

  /** The time for the store. */
  protected final Instant now() {
    return now.get();
  }

  @BeforeEach
  final void openBlobs() throws Exception {
    blobs = open("main");
  }

  @AfterEach
  final void closeBlobs() {
    blobs.close();
  }

  @Override
  protected final BlobStore blobs() {
    return blobs;
  }

  private void pass(Duration time) {
    now.updateAndGet(before -> before.plus(time));
  }

  private static byte[] bytes(int size) {
    byte[] bytes = new byte[size];
    for (int i = 0; i < size; i++) {
      bytes[i] = (byte) (i ^ i >> 8 ^ i >> 16);
    }
    return bytes;
  }

  @Test
  void blobs_around_the_size_of_a_chunk_are_stored_whole() throws IOException {
    for (int size : List.of(CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 5)) {
      byte[] content = bytes(size);
      assertThat(blobs.put("blob", new ByteArrayInputStream(content)).size()).isEqualTo(size);
      try (BlobStream in = blobs.open("blob")) {
        assertThat(in.readAllBytes()).isEqualTo(content);
      }
      for (int offset : List.of(1, CHUNK - 1, size - 1)) {
        try (BlobStream in = blobs.open("blob", offset)) {
          assertThat(in.readAllBytes()).isEqualTo(Arrays.copyOfRange(content, offset, size));
        }
      }
    }
  }

  @Test
  void a_second_name_shares_the_content_and_outlives_the_first() throws IOException {
    put("first", "shared");
    assertThat(blobs.link("first", "second")).isTrue();
    assertThat(contents()).isEqualTo(1);

    assertThat(blobs.delete("first")).isTrue();
    pass(Duration.ofHours(2));
    blobs.removeLeftovers(now());

    assertThat(read("second", 0)).isEqualTo("shared");
    assertThat(blobs.exists("first")).isFalse();
    assertThatThrownBy(() -> blobs.link("first", "third"))
        .isInstanceOfSatisfying(
            NoSuchBlobException.class, e -> assertThat(e.name()).isEqualTo("first"));
  }

  @Test
  void a_second_name_replaces_what_had_it() throws IOException {
    put("first", "new");
    put("second", "old");

    blobs.link("first", "second");

    assertThat(read("second", 0)).isEqualTo("new");
    assertThat(list("")).extracting(Blob::size).containsExactly(3L, 3L);
  }

  @Test
  void what_no_name_refers_to_is_removed_an_hour_later() throws IOException {
    put("state", "old");
    put("state", "new");
    put("short-lived", "x");
    blobs.delete("short-lived");
    try (BlobStream open = blobs.open("state")) {
      put("state", "newest");
      pass(Duration.ofMinutes(59));
      blobs.removeLeftovers(now());
      assertThat(contents()).isEqualTo(4);
      assertThat(open.readAllBytes()).hasSize(3);
    }

    pass(Duration.ofMinutes(2));
    blobs.removeLeftovers(now());

    assertThat(contents()).isEqualTo(1);
    assertThat(read("state", 0)).isEqualTo("newest");
  }

  @Test
  void a_stream_of_a_blob_that_is_gone_fails_rather_than_ends() throws IOException {
    blobs.put("large", new ByteArrayInputStream(bytes(3 * CHUNK)));
    try (BlobStream open = blobs.open("large")) {
      assertThat(open.readNBytes(10)).hasSize(10);
      blobs.delete("large");
      pass(Duration.ofHours(2));
      blobs.removeLeftovers(now());

      assertThatThrownBy(open::readAllBytes)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("large was replaced or deleted");
    }
    assertThat(contents()).isZero();
    assertThat(bytesArrived()).isZero();
  }

  @Test
  void what_a_put_left_is_removed_a_day_later() {
    assertThatThrownBy(() ->
            blobs.put(
                "state",
                new SequenceInputStream(
                    new GeneratedStream(1, 3L * CHUNK, () -> {}),
                    new FailingStream("the line went dead", () -> {}))))
        .isInstanceOf(BlobException.class);
    assertThat(bytesArrived()).isEqualTo(3L * CHUNK);

    pass(Duration.ofHours(23));
    blobs.removeLeftovers(now());
    assertThat(contents()).isEqualTo(1);

    pass(Duration.ofHours(2));
    blobs.removeLeftovers(now());
    assertThat(contents()).isZero();
    assertThat(bytesArrived()).isZero();
  }

  @Test
  void a_put_that_stood_still_for_a_day_fails() {
    assertThatThrownBy(() ->
            blobs.put(
                "slow",
                new SequenceInputStream(
                    new GeneratedStream(1, CHUNK + 1, () -> {}),
                    new GeneratedStream(
                        2,
                        1,
                        () -> {
                          pass(Duration.ofHours(25));
                          blobs.removeLeftovers(now());
                        }))))
        .isInstanceOf(BlobException.class)
        .hasMessageContaining("not continued");
    assertThat(blobs.exists("slow")).isFalse();
  }

  @Test
  void stores_of_one_database_have_names_of_their_own() throws Exception {
    try (BlobStore other = open("other")) {
      blobs.put("shared", new ByteArrayInputStream(new byte[] {1}));
      assertThat(other.exists("shared")).isFalse();
      other.put("shared", new ByteArrayInputStream(new byte[] {2, 3}));

      try (BlobStream in = blobs.open("shared")) {
        assertThat(in.readAllBytes()).containsExactly(1);
      }
      assertThat(other.delete("shared")).isTrue();
      assertThat(blobs.exists("shared")).isTrue();
    }
  }

  @Test
  void a_listing_has_several_pages() {
    IntStream.range(0, 1_100).forEach(i -> put("blob-%04d".formatted(i), ""));
    put("other", "");

    assertThat(list("blob-")).hasSize(1_100).doesNotHaveDuplicates();
  }

  @Test
  void no_name_ever_lacks_its_content() throws Exception {
    put("source", "content");
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Callable<Void>> work =
          List.of(
              () -> repeat(() -> blobs.link("source", "copy")),
              () -> repeat(() -> put("source", "content")),
              () -> repeat(() -> blobs.delete("copy")),
              () ->
                  repeat(() -> {
                    pass(Duration.ofMinutes(61));
                    blobs.removeLeftovers(now());
                  }),
              () ->
                  repeat(() -> {
                    try (BlobStream in = blobs.open("source")) {
                      assertThat(in.size()).isEqualTo(7);
                    }
                  }));
      for (Future<Void> each : threads.invokeAll(work)) {
        each.get();
      }
    }
    try (Stream<Blob> all = blobs.list("")) {
      for (Blob blob : all.toList()) {
        assertThat(read(blob.name(), 0)).isEqualTo("content");
      }
    }
  }

  /** Something that may fail. */
  private interface Action {
    void run() throws Exception;
  }

  private static Void repeat(Action action) throws Exception {
    for (int i = 0; i < 30; i++) {
      action.run();
    }
    return null;
  }
}
