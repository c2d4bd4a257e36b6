package io.millrace.server.blobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.blobs.Blob;
import io.millrace.blobs.BlobStore;
import io.millrace.blobs.sql.SqlBlobTables;
import io.millrace.client.ClientOptions;
import io.millrace.client.jobs.JobClient;
import io.millrace.client.jobs.JobKind;
import io.millrace.client.jobs.JobWorker;
import io.millrace.client.jobs.JobWorkerOptions;
import io.millrace.database.DatabaseAddress;
import io.millrace.s3.S3Address;
import io.millrace.s3.S3Server;
import io.millrace.server.MillraceServer;
import io.millrace.server.ServerException;
import io.millrace.server.config.Configuration;
import io.millrace.server.config.ConfigurationException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers whose blobs are in a bucket or a database. */
class SharedBlobsTest {
  private static final JobKind<byte[], byte[]> KIND =
      JobKind.of("kind", byte[].class, byte[].class);
  private static final MillraceServer.Companion NOTHING =
      new MillraceServer.Companion() {
        @Override
        public void start(MillraceServer server, MillraceServer.Led led) {}

        @Override
        public void stop(int shard) {}
      };

  private static S3Server bucket;

  private final List<MillraceServer> started = new ArrayList<>();
  @TempDir private Path root;

  @AfterEach
  void close() {
    started.reversed().forEach(MillraceServer::close);
  }

  private MillraceServer start(String name, Map<String, String> place) {
    MillraceServer server = MillraceServer.start(configuration(name, place), null, NOTHING);
    started.add(server);
    return server;
  }

  @BeforeAll
  static void startBucket() throws Exception {
    bucket = new S3Server();
  }

  @AfterAll
  static void stopBucket() throws Exception {
    bucket.stop();
  }

  private static Map<String, String> settings(S3Address place) {
    return Map.of(
        "blobs.url",
        "s3://%s/%s?endpoint=%s".formatted(place.bucket(), place.prefix(), place.endpoint()),
        "blobs.user",
        S3Server.KEY,
        "blobs.password",
        S3Server.SECRET);
  }

  private Configuration configuration(String name, Map<String, String> place, String... more) {
    Map<String, String> flags =
        new HashMap<>(
            Map.of(
                "server.port",
                "0",
                "store.data",
                root.resolve(name).toString(),
                "store.url",
                "jdbc:sqlite:" + root.resolve("store.db"),
                "store.lease",
                "3s",
                "audit.enabled",
                "false",
                "jobs.types.kind.description",
                "Answers"));
    flags.putAll(place);
    for (int i = 0; i < more.length; i += 2) {
      flags.put(more[i], more[i + 1]);
    }
    return Configuration.read(MillraceServer.SECTIONS, null, flags);
  }

  private static URI address(MillraceServer server) {
    return URI.create("http://127.0.0.1:" + server.port());
  }

  @Test
  void a_standby_that_takes_over_has_what_is_in_the_bucket() throws Exception {
    S3Address place = bucket.newPlace();
    takeOver(settings(place));
    assertThat(
            bucket
                .client()
                .listObjectsV2(
                    request -> request.bucket(place.bucket()).prefix(place.prefix() + "/"))
                .keyCount())
        .isGreaterThanOrEqualTo(3);
  }

  @Test
  void a_caller_that_asks_for_a_link_is_sent_to_the_bucket() throws Exception {
    Map<String, String> place = new HashMap<>(settings(bucket.newPlace()));
    place.put("blobs.link-time", "5m");
    MillraceServer server = start("one", place);
    server.leads().get(60, TimeUnit.SECONDS);
    byte[] payload = new byte[10_000];
    new SplittableRandom(1).nextBytes(payload);
    try (JobClient jobs = JobClient.open(ClientOptions.at(address(server).toString()));
        HttpClient plain = HttpClient.newHttpClient();
        HttpClient following =
            HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build()) {
      String large = jobs.submit(KIND, payload).id();
      String small = jobs.submit(KIND, new byte[] {1, 2}).id();
      HttpRequest asking = get(server, "/api/jobs/" + large + "/payload?link=true");

      HttpResponse<byte[]> sent = plain.send(asking, BodyHandlers.ofByteArray());
      assertThat(sent.statusCode()).isEqualTo(307);
      assertThat(sent.headers().firstValue("Location").orElse(""))
          .startsWith(bucket.endpoint().toString());
      assertThat(sent.headers().firstValue("Cache-Control")).hasValue("no-store");
      assertThat(following.send(asking, BodyHandlers.ofByteArray()).body()).isEqualTo(payload);
      assertThat(
              plain
                  .send(get(server, "/api/jobs/" + large + "/payload"), BodyHandlers.ofByteArray())
                  .body())
          .isEqualTo(payload);
      assertThat(
              plain
                  .send(
                      get(server, "/api/jobs/" + small + "/payload?link=true"),
                      BodyHandlers.ofByteArray())
                  .body())
          .containsExactly(1, 2);
      assertThat(
              plain
                  .send(get(server, "/blobs/nothing?link=true"), BodyHandlers.ofByteArray())
                  .statusCode())
          .isEqualTo(404);
    }
  }

  private static HttpRequest get(MillraceServer server, String path) {
    return HttpRequest.newBuilder(address(server).resolve(path)).build();
  }

  @Test
  void a_standby_that_takes_over_has_what_is_in_the_database() throws Exception {
    DatabaseAddress database = DatabaseAddress.file(root.resolve("blobs.db"));
    takeOver(Map.of("blobs.url", database.url()));
    try (BlobStore blobs = SqlBlobTables.open(database, "main");
        Stream<Blob> all = blobs.list("")) {
      assertThat(all).hasSizeGreaterThanOrEqualTo(3);
    }
  }

  /** Has one server take payloads, and another one give them to a worker. */
  private void takeOver(Map<String, String> place) throws Exception {
    byte[] payload = new byte[3 << 20];
    new SplittableRandom(1).nextBytes(payload);
    byte[] result = Arrays.copyOf(payload, 100_000);
    String first;
    String second;
    MillraceServer leader = start("one", place);
    leader.leads().get(60, TimeUnit.SECONDS);
    MillraceServer standby = start("two", place);
    try (JobClient jobs = JobClient.open(ClientOptions.at(address(leader).toString()))) {
      first = jobs.submit(KIND, payload).id();
      try (JobWorker _ = worker(leader, result)) {
        assertThat(jobs.await(KIND, first, Duration.ofSeconds(60))).isEqualTo(result);
      }
      second = jobs.submit(KIND, payload).id();
    }
    leader.close();
    standby.leads().get(60, TimeUnit.SECONDS);
    try (JobClient jobs = JobClient.open(ClientOptions.at(address(standby).toString()));
        JobWorker _ = worker(standby, payload)) {
      assertThat(jobs.await(KIND, first, Duration.ofSeconds(60))).isEqualTo(result);
      assertThat(jobs.await(KIND, second, Duration.ofSeconds(60))).isEqualTo(payload);
    }
    for (String name : new String[] {"one", "two"}) {
      assertThat(Files.exists(root.resolve(name).resolve("blobs"))).isFalse();
    }
  }

  /** Answers with a result, once it has read a payload as long as it was submitted. */
  private static JobWorker worker(MillraceServer server, byte[] result) {
    return JobWorker.start(
        JobWorkerOptions.at(address(server), "worker"),
        KIND,
        (payload, _) -> {
          assertThat(payload).hasSize(3 << 20);
          return result;
        });
  }

  @Test
  void a_bucket_that_cannot_be_used_ends_the_start_of_a_standby_too() {
    S3Address place = bucket.newPlace();
    assertThatThrownBy(() ->
            MillraceServer.start(
                configuration("one", settings(place), "blobs.password", "wrong"), null, NOTHING))
        .isInstanceOf(ServerException.class)
        .hasMessage("blobs.url: the access key may not read bucket " + place.bucket());
  }

  @Test
  void a_database_that_cannot_be_used_ends_the_start() throws Exception {
    Path other = Files.writeString(root.resolve("text"), "This is a text. ".repeat(100));
    assertThatThrownBy(() ->
            MillraceServer.start(
                configuration("one", Map.of("blobs.url", "jdbc:sqlite:" + other)), null, NOTHING))
        .isInstanceOf(ServerException.class)
        .hasMessageStartingWith("blobs.url: blobs in sqlite:" + other);
  }

  @Test
  void a_name_without_room_for_the_number_of_a_shard_ends_the_start() {
    Map<String, String> place =
        Map.of("blobs.url", "jdbc:sqlite:" + root.resolve("blobs.db"), "store.shards", "32");
    String tooLong = "n".repeat(56);
    assertThatThrownBy(() ->
            MillraceServer.start(configuration("one", place, "blobs.name", tooLong), null, NOTHING))
        .isInstanceOf(ConfigurationException.class)
        .hasMessage("blobs.name has at most 55 characters with 32 shards: " + tooLong);
  }

  @Test
  void settings_that_contradict_each_other_are_refused() {
    S3Address place = bucket.newPlace();
    assertThatThrownBy(() -> configuration("one", settings(place), "blobs.data", root.toString()))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("blobs.url and blobs.data name two places");
    assertThatThrownBy(
            () -> configuration("one", settings(place), "blobs.max-bytes", "6597069766656"))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("at most 5TiB");
    assertThatThrownBy(() -> configuration("one", settings(place), "blobs.password", ""))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("blobs.url: an access key of a bucket has an id and a secret");
    assertThatThrownBy(() -> configuration("one", settings(place), "blobs.url", "ftp://bucket"))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("blobs.url begins with 's3://'");
    assertThatThrownBy(() ->
            configuration(
                "one", Map.of("blobs.url", "jdbc:mariadb://host/db?password=x", "blobs.user", "u")))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("blobs.url: the address contains a password");
    assertThatThrownBy(() ->
            configuration(
                "one", Map.of("blobs.url", "jdbc:sqlite:blobs.db", "blobs.name", "a name")))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("blobs.name has 1 to 64 letters");
  }
}
