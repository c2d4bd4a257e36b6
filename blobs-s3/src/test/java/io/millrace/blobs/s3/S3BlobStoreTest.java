package io.millrace.blobs.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.blobs.Blob;
import io.millrace.blobs.BlobException;
import io.millrace.blobs.BlobReceipt;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.BlobStoreContract;
import io.millrace.blobs.BlobStream;
import io.millrace.blobs.FailingStream;
import io.millrace.blobs.GeneratedStream;
import io.millrace.blobs.NoSuchBlobException;
import io.millrace.blobs.UnownedBlobs;
import io.millrace.s3.S3Address;
import io.millrace.s3.S3Server;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.Part;

/** Blobs in a bucket of S3Proxy keep the contract of blobs. */
final class S3BlobStoreTest extends BlobStoreContract {
  private static final int PART = 5 << 20;
  private static final S3BlobStore.Limits LIMITS =
      new S3BlobStore.Limits(PART, 2, Duration.ofSeconds(30), PART);

  private static S3Server server;

  private final AtomicReference<Instant> now = new AtomicReference<>(Instant.now());
  private S3Address place;
  private S3BlobStore blobs;

  @BeforeAll
  static void start() throws Exception {
    server = new S3Server();
  }

  @AfterAll
  static void stop() throws Exception {
    server.stop();
  }

  @BeforeEach
  void open() {
    place = server.newPlace();
    blobs = new S3BlobStore(place, LIMITS, Duration.ofMinutes(5), now::get);
  }

  @AfterEach
  void close() {
    blobs.close();
  }

  @Override
  protected BlobStore blobs() {
    return blobs;
  }

  @Override
  protected long bytesArrived() {
    return uploads().stream()
        .flatMap(upload ->
            server
                .client()
                .listParts(request ->
                    request.bucket(place.bucket()).key(upload.key()).uploadId(upload.uploadId()))
                .parts()
                .stream())
        .mapToLong(Part::size)
        .sum();
  }

  private List<MultipartUpload> uploads() {
    return server
        .client()
        .listMultipartUploads(request -> request.bucket(place.bucket()))
        .uploads()
        .stream()
        .filter(upload -> upload.key().startsWith(place.prefix() + "/"))
        .toList();
  }

  private static byte[] bytes(int size) {
    byte[] bytes = new byte[size];
    for (int i = 0; i < size; i++) {
      bytes[i] = (byte) (i ^ i >> 8 ^ i >> 16);
    }
    return bytes;
  }

  private void put(BlobStore store, String name, byte[] content) {
    assertThat(store.put(name, new ByteArrayInputStream(content)).size()).isEqualTo(content.length);
  }

  private byte[] read(String name) throws IOException {
    try (BlobStream in = blobs.open(name)) {
      return in.readAllBytes();
    }
  }

  @Test
  void blobs_around_the_size_of_a_part_are_stored_whole() throws IOException {
    for (int size : List.of(PART - 1, PART, PART + 1, 2 * PART)) {
      byte[] content = bytes(size);
      put(blobs, "blob", content);
      assertThat(read("blob")).isEqualTo(content);
    }
    assertThat(uploads()).isEmpty();
  }

  @Test
  void a_put_that_fails_between_its_parts_leaves_no_upload() throws IOException {
    put(blobs, "state", new byte[] {1});
    InputStream failing =
        new SequenceInputStream(
            new GeneratedStream(1, 2L * PART + 1, () -> assertThat(uploads()).hasSize(1)),
            new FailingStream("the line went dead", () -> {}));

    assertThatThrownBy(() -> blobs.put("state", failing))
        .isInstanceOf(BlobException.class)
        .hasMessageContaining("the line went dead")
        .cause()
        .isInstanceOf(IOException.class);

    assertThat(uploads()).isEmpty();
    assertThat(read("state")).isEqualTo(new byte[] {1});
  }

  @Test
  void uploads_that_did_not_end_are_aborted_after_a_day() {
    server
        .client()
        .createMultipartUpload(
            request -> request.bucket(place.bucket()).key(place.prefix() + "/left"));
    Instant begun = uploads().getFirst().initiated();

    blobs.removeLeftovers(begun.plus(Duration.ofHours(23)));
    assertThat(uploads()).hasSize(1);

    blobs.removeLeftovers(begun.plus(Duration.ofHours(25)));
    assertThat(uploads()).isEmpty();
  }

  @Test
  void a_stream_of_200_MiB_takes_the_memory_of_one_part() throws IOException {
    long size = 200L << 20;
    try (CountingBucket bucket = new CountingBucket();
        S3BlobStore store =
            new S3BlobStore(
                S3Address.at("s3://bucket?endpoint=" + bucket.endpoint()).withKey("id", "secret"),
                LIMITS,
                Duration.ofMinutes(5),
                now::get)) {
      InputStream source =
          new GeneratedStream(3, size, () -> {}) {
            private long read;

            @Override
            public int read(byte[] target, int offset, int length) {
              int count = super.read(target, offset, length);
              read += Math.max(0, count);
              assertThat(read - bucket.bytes()).isLessThanOrEqualTo(PART);
              return count;
            }
          };

      assertThat(store.put("large", source).size()).isEqualTo(size);

      assertThat(bucket.bytes()).isEqualTo(size);
      assertThat(bucket.parts()).isEqualTo(size / PART);
    }
  }

  @Test
  void a_put_that_gets_no_buffer_is_refused_and_small_ones_need_none() throws Exception {
    S3BlobStore.Limits one = new S3BlobStore.Limits(PART, 1, Duration.ZERO, PART);
    CompletableFuture<Void> reading = new CompletableFuture<>();
    CompletableFuture<Void> goOn = new CompletableFuture<>();
    InputStream slow =
        new SequenceInputStream(
            new ByteArrayInputStream(bytes(PART)),
            new GeneratedStream(
                1,
                0,
                () -> {
                  reading.complete(null);
                  goOn.join();
                }));
    try (S3BlobStore store = new S3BlobStore(place, one, Duration.ofMinutes(5), now::get);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<BlobReceipt> first = threads.submit(() -> store.put("slow", slow));
      reading.join();

      assertThatThrownBy(() -> put(store, "second", bytes(PART)))
          .isInstanceOf(BlobException.class)
          .hasMessageContaining("blob second cannot be stored now: 1 others");
      put(store, "small", new byte[100]);

      goOn.complete(null);
      assertThat(first.get().size()).isEqualTo(PART);
      put(store, "second", bytes(PART));
    }
  }

  @Test
  void the_time_of_a_long_upload_is_that_of_its_end() {
    Instant end = now.get().plus(Duration.ofHours(3));

    BlobReceipt _ = blobs.put("slow", new GeneratedStream(1, PART + 1, () -> now.set(end)));
    put(blobs, "quick", bytes(PART + 1));

    assertThat(modified("slow")).isEqualTo(end);
    assertThat(modified("quick")).isBefore(end.minus(Duration.ofHours(2)));
    UnownedBlobs.sweep(blobs, "", end.minus(Duration.ofHours(1)), _ -> true, _ -> {});
    assertThat(blobs.exists("slow")).isTrue();
    assertThat(blobs.exists("quick")).isFalse();
  }

  private Instant modified(String name) {
    try (Stream<Blob> found = blobs.list(name)) {
      return found.findFirst().orElseThrow().modified();
    }
  }

  @Test
  void a_stream_goes_on_where_its_connection_broke() throws IOException {
    byte[] content = bytes(6_000_000);
    put(blobs, "blob", content);
    try (CuttingProxy proxy = new CuttingProxy(server.endpoint());
        S3BlobStore store = through(proxy);
        BlobStream in = store.open("blob", 1_000)) {
      byte[] read = new byte[content.length - 1_000];
      int position = in.readNBytes(read, 0, 10_000);
      while (position < read.length) {
        proxy.cutAfter(700_000);
        position += in.readNBytes(read, position, Math.min(1_000_000, read.length - position));
      }

      assertThat(in.read()).isEqualTo(-1);
      assertThat(read).isEqualTo(Arrays.copyOfRange(content, 1_000, content.length));
      assertThat(proxy.cuts()).isGreaterThanOrEqualTo(2);
    }
  }

  @Test
  void a_stream_whose_connection_breaks_after_its_blob_was_replaced_fails() throws IOException {
    put(blobs, "blob", bytes(6_000_000));
    try (CuttingProxy proxy = new CuttingProxy(server.endpoint());
        S3BlobStore store = through(proxy)) {
      for (boolean replaced : List.of(true, false)) {
        try (BlobStream in = store.open("blob")) {
          byte[] _ = in.readNBytes(1_000);
          if (replaced) {
            put(blobs, "blob", bytes(6_000_001));
          } else {
            assertThat(blobs.delete("blob")).isTrue();
          }
          proxy.cutAfter(100);

          assertThatThrownBy(in::readAllBytes)
              .isInstanceOf(IOException.class)
              .hasMessageContaining("blob blob was replaced or deleted while it was read");
        }
      }
    }
  }

  private S3BlobStore through(CuttingProxy proxy) {
    S3Address cut =
        S3Address.at(
                "s3://%s/%s?endpoint=%s".formatted(place.bucket(), place.prefix(), proxy.address()))
            .withKey(S3Server.KEY, S3Server.SECRET);
    return new S3BlobStore(cut, LIMITS, Duration.ofMinutes(5), now::get);
  }

  @Test
  void a_link_is_a_copy_that_the_bucket_makes_of_small_and_large_blobs() throws IOException {
    for (int size : List.of(10, 2 * PART + 1)) {
      byte[] content = bytes(size);
      put(blobs, "from", content);
      put(blobs, "to", new byte[] {1});

      assertThat(blobs.link("from", "to")).isTrue();
      assertThat(blobs.link("from", "from")).isTrue();

      assertThat(blobs.delete("from")).isTrue();
      assertThat(read("to")).isEqualTo(content);
    }
    assertThatThrownBy(() -> blobs.link("from", "to")).isInstanceOf(NoSuchBlobException.class);
    assertThat(read("to")).hasSize(2 * PART + 1);
    assertThat(uploads()).isEmpty();
  }

  @Test
  void more_blobs_than_a_page_has_are_listed_and_nothing_else() {
    S3Client client = server.client();
    try (ExecutorService threads = Executors.newFixedThreadPool(16)) {
      IntStream.range(0, 1_050)
          .forEach(i -> {
            var _ = threads.submit(() -> put(blobs, "blob-" + i, new byte[1]));
          });
      for (String other : List.of("/main/blob-1", "/.hidden")) {
        var _ =
            threads.submit(() ->
                client.putObject(
                    request -> request.bucket(place.bucket()).key(place.prefix() + other),
                    RequestBody.fromString("x", UTF_8)));
      }
    }

    try (Stream<Blob> all = blobs.list("")) {
      assertThat(all.map(Blob::name).distinct()).hasSize(1_050);
    }
    try (Stream<Blob> some = blobs.list("blob-10")) {
      assertThat(some).hasSize(61);
    }
  }

  @Test
  void a_bucket_that_cannot_be_used_is_said() {
    String address = "s3://%s?endpoint=" + server.endpoint();
    check(S3Address.at(address.formatted("no-such-bucket")).withKey(S3Server.KEY, S3Server.SECRET))
        .hasMessageContaining("there is no bucket no-such-bucket");
    check(place.withKey("local", "wrong"))
        .hasMessageContaining("the access key may not read bucket " + place.bucket());
    check(S3Address.at("s3://bucket?endpoint=http://127.0.0.1:1").withKey("id", "secret"))
        .hasMessageContaining("s3://bucket at http://127.0.0.1:1 cannot be reached");
    blobs.check();
    try (S3BlobStore wrong =
        S3BlobStore.open(place.withKey("local", "wrong"), 1L << 30, Duration.ZERO)) {
      assertThatThrownBy(() -> put(wrong, "blob", new byte[1]))
          .isInstanceOf(BlobException.class)
          .hasMessageContaining("blob blob")
          .hasMessageContaining(server.endpoint().toString())
          .hasMessageNotContaining("wrong");
      assertThatThrownBy(() -> wrong.open("blob"))
          .isInstanceOf(BlobException.class)
          .isNotInstanceOf(NoSuchBlobException.class);
    }
  }

  private static AbstractThrowableAssert<?, ?> check(S3Address address) {
    return assertThatThrownBy(
            () -> {
              try (S3BlobStore store = S3BlobStore.open(address, 1L << 30, Duration.ZERO)) {
                store.check();
              }
            })
        .isInstanceOf(BlobException.class);
  }

  @Test
  void a_link_leads_past_the_store_to_the_bytes() throws Exception {
    byte[] content = bytes(100_000);
    put(blobs, "report.pdf", content);

    URI link = blobs.publicLink("report.pdf").orElseThrow();

    assertThat(link.toString())
        .startsWith(server.endpoint().toString())
        .contains("X-Amz-Signature");
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest request = HttpRequest.newBuilder(link).build();
      assertThat(client.send(request, BodyHandlers.ofByteArray()).body()).isEqualTo(content);
      URI other = URI.create(link.toString().replace("report.pdf", "other.pdf"));
      assertThat(
              client
                  .send(HttpRequest.newBuilder(other).build(), BodyHandlers.discarding())
                  .statusCode())
          .isEqualTo(403);
    }
    try (S3BlobStore silent = S3BlobStore.open(place, 1L << 30, Duration.ZERO)) {
      assertThat(silent.publicLink("report.pdf")).isEmpty();
    }
  }

  @Test
  void parts_are_as_large_as_the_longest_blob_needs() {
    assertThat(S3BlobStore.Limits.of(64L << 30).partBytes()).isEqualTo(8 << 20);
    assertThat(S3BlobStore.Limits.of(S3BlobStore.MAX_BLOB_BYTES).partBytes() * 10_000L)
        .isGreaterThanOrEqualTo(S3BlobStore.MAX_BLOB_BYTES);
    assertThatThrownBy(() -> S3BlobStore.open(place, S3BlobStore.MAX_BLOB_BYTES + 1, Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
