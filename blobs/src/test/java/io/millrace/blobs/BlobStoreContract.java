package io.millrace.blobs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What every {@link BlobStore} does. */
public abstract class BlobStoreContract {
  private static final int MEBIBYTE = 1 << 20;

  /** The store under test, empty at the start of each test. */
  protected abstract BlobStore blobs();

  /** How many bytes of the put that runs now have come to where they are kept. */
  protected abstract long bytesArrived();

  @Test
  void a_blob_is_read_as_it_was_put() throws IOException {
    BlobReceipt receipt = put("greeting.txt", "hello");

    assertThat(receipt)
        .isEqualTo(
            new BlobReceipt(
                "greeting.txt",
                5,
                "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"));
    assertThat(read("greeting.txt", 0)).isEqualTo("hello");
    assertThat(blobs().size("greeting.txt")).hasValue(5);
    assertThat(blobs().exists("greeting.txt")).isTrue();
  }

  @Test
  void an_empty_blob_is_a_blob() throws IOException {
    assertThat(put("empty", "").size()).isZero();

    assertThat(read("empty", 0)).isEmpty();
    assertThat(blobs().size("empty")).hasValue(0);
  }

  @Test
  void a_blob_is_read_from_any_offset() throws IOException {
    put("letters", "abcdef");

    assertThat(read("letters", 1)).isEqualTo("bcdef");
    assertThat(read("letters", 5)).isEqualTo("f");
    try (BlobStream part = blobs().open("letters", 2)) {
      assertThat(part.size()).isEqualTo(6);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {6, 7, 1L << 40})
  void at_or_past_the_end_a_blob_reads_as_empty(long offset) throws IOException {
    put("letters", "abcdef");

    try (BlobStream past = blobs().open("letters", offset)) {
      assertThat(past.read()).isEqualTo(-1);
      assertThat(past.size()).isEqualTo(6);
    }
  }

  @Test
  void a_negative_offset_is_refused() {
    put("letters", "abcdef");

    assertThatThrownBy(() -> blobs().open("letters", -1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-1");
  }

  @Test
  void a_name_that_nothing_has_is_named_by_the_error() {
    assertThatThrownBy(() -> blobs().open("nothing"))
        .isInstanceOfSatisfying(
            NoSuchBlobException.class, e -> assertThat(e.name()).isEqualTo("nothing"))
        .hasMessageContaining("nothing");
    assertThatThrownBy(() -> blobs().open("nothing", 3)).isInstanceOf(NoSuchBlobException.class);
    assertThat(blobs().size("nothing")).isEmpty();
    assertThat(blobs().exists("nothing")).isFalse();
    assertThat(blobs().delete("nothing")).isFalse();
  }

  @Test
  void a_deleted_blob_is_gone() {
    put("short-lived", "x");

    assertThat(blobs().delete("short-lived")).isTrue();

    assertThat(blobs().exists("short-lived")).isFalse();
    assertThat(blobs().delete("short-lived")).isFalse();
    assertThat(list("")).isEmpty();
  }

  @Test
  void a_put_replaces_the_blob_that_has_the_name() throws IOException {
    put("state", "the first, which is longer");

    put("state", "the second");

    assertThat(read("state", 0)).isEqualTo("the second");
    assertThat(list("")).hasSize(1);
  }

  @Test
  void who_has_a_blob_open_reads_it_to_its_end_when_it_is_replaced_or_deleted() throws IOException {
    byte[] old = new byte[8 * MEBIBYTE];
    Arrays.fill(old, (byte) 'o');
    blobs().put("state", new ByteArrayInputStream(old));
    try (BlobStream open = blobs().open("state")) {
      byte[] start = open.readNBytes(10);
      put("state", "new");
      blobs().delete("state");

      assertThat(start.length + open.readAllBytes().length).isEqualTo(old.length);
    }
  }

  static Stream<String> namesThatAreNone() {
    return Stream.of(
        "",
        ".",
        "..",
        ".hidden",
        "a/b",
        "../a",
        "a\\b",
        "a b",
        "é",
        "a\n",
        "a\0",
        "a%2fb",
        "a?b",
        "n".repeat(256));
  }

  @ParameterizedTest
  @MethodSource("namesThatAreNone")
  void a_bad_name_is_refused_by_everything(String name) {
    List<Callable<Object>> uses =
        List.of(
            () -> blobs().put(name, InputStream.nullInputStream()),
            () -> blobs().open(name),
            () -> blobs().size(name),
            () -> blobs().delete(name));
    for (Callable<Object> use : uses) {
      assertThatThrownBy(use::call)
          .isInstanceOf(InvalidBlobNameException.class)
          .hasMessageContaining("A-Z a-z 0-9 . _ -");
    }
    assertThat(list("")).isEmpty();
  }

  @Test
  void the_error_shows_the_bad_name() {
    assertThatThrownBy(() -> blobs().open("../../etc/passwd"))
        .hasMessageContaining("\"../../etc/passwd\"");
    assertThatThrownBy(() -> blobs().list("../"))
        .isInstanceOf(InvalidBlobNameException.class)
        .hasMessageContaining("\"../\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "A-Z_0.9", "a..b", "-", "_", "incoming", "data"})
  void every_good_name_can_be_used(String name) throws IOException {
    put(name, "content of " + name);

    assertThat(read(name, 0)).isEqualTo("content of " + name);
    assertThat(list(name)).extracting(Blob::name).containsExactly(name);
  }

  @Test
  void a_name_may_have_255_characters() throws IOException {
    String longest = "n".repeat(255);
    put(longest, "x");

    assertThat(read(longest, 0)).isEqualTo("x");
  }

  @Test
  void a_listing_shows_what_starts_with_the_prefix_with_size_and_time() {
    Instant before = Instant.now().minus(Duration.ofSeconds(5));
    put("job-1.out", "1");
    put("job-1.err", "22");
    put("job-10.out", "333");
    put("other", "");

    assertThat(list("job-1"))
        .extracting(Blob::name)
        .containsExactlyInAnyOrder("job-1.out", "job-1.err", "job-10.out");
    assertThat(list("job-1.")).extracting(Blob::size).containsExactlyInAnyOrder(1L, 2L);
    assertThat(list("")).hasSize(4);
    assertThat(list("nobody")).isEmpty();
    assertThat(list(""))
        .allSatisfy(blob ->
            assertThat(blob.modified())
                .isBetween(before, Instant.now().plus(Duration.ofSeconds(5))));
  }

  @Test
  void a_put_whose_content_fails_half_way_leaves_what_was_there() throws IOException {
    put("state", "old");
    InputStream failing =
        new SequenceInputStream(
            new GeneratedStream(1, MEBIBYTE, () -> {}),
            new FailingStream("the line went dead", () -> {}));

    assertThatThrownBy(() -> blobs().put("state", failing))
        .isInstanceOf(BlobException.class)
        .hasMessageContaining("state")
        .hasMessageContaining("the line went dead");

    assertThat(read("state", 0)).isEqualTo("old");
    assertThat(list("")).hasSize(1);
  }

  @Test
  void a_large_blob_streams_through() throws Exception {
    long size = 64L * MEBIBYTE;
    AtomicLong arrived = new AtomicLong();
    BlobReceipt receipt =
        blobs().put("large", new GeneratedStream(7, size, () -> arrived.set(bytesArrived())));

    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    try (BlobStream in = blobs().open("large")) {
      byte[] buffer = new byte[8192];
      int count;
      while ((count = in.read(buffer)) >= 0) {
        digest.update(buffer, 0, count);
      }
    }

    // What had not arrived when the source ended was in buffers: the sockets', and a few chunks.
    assertThat(size - arrived.get()).isLessThan(16L * MEBIBYTE);
    assertThat(receipt.size()).isEqualTo(size);
    assertThat(receipt.sha256()).isEqualTo(HexFormat.of().formatHex(digest.digest()));
  }

  @Test
  void threads_that_put_one_name_never_make_a_mixture() throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Callable<BlobReceipt>> puts = new ArrayList<>();
      IntStream.range(0, 16)
          .forEach(i ->
              puts.add(() -> blobs().put("hot", new GeneratedStream(i, 100_000 + i, () -> {}))));
      List<BlobReceipt> receipts = new ArrayList<>();
      for (var put : threads.invokeAll(puts)) {
        receipts.add(put.get());
      }
      byte[] last;
      try (BlobStream in = blobs().open("hot")) {
        last = in.readAllBytes();
      }
      String sha256 = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(last));
      assertThat(receipts).contains(new BlobReceipt("hot", last.length, sha256));
      assertThat(list("")).hasSize(1);
    }
  }

  BlobReceipt put(String name, String content) {
    return blobs().put(name, new ByteArrayInputStream(content.getBytes(UTF_8)));
  }

  String read(String name, long offset) throws IOException {
    try (BlobStream in = blobs().open(name, offset)) {
      return new String(in.readAllBytes(), UTF_8);
    }
  }

  List<Blob> list(String prefix) {
    try (Stream<Blob> listed = blobs().list(prefix)) {
      return listed.toList();
    }
  }
}
