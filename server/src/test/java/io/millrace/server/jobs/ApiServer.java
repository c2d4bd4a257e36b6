package io.millrace.server.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.millrace.blobs.FileBlobStore;
import io.millrace.http.AccessCheck;
import io.millrace.http.ErrorResponses;
import io.millrace.http.HttpLimits;
import io.millrace.http.HttpServer;
import io.millrace.http.Routes;
import io.millrace.http.json.Json;
import io.millrace.jobs.registry.Jobs;
import io.millrace.server.Contract;
import io.millrace.server.blobs.BlobApi;
import io.millrace.server.config.Configuration;
import io.millrace.server.traces.Traces;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/** The API on a free port, over a real store, with workers that only take notes. */
final class ApiServer implements AutoCloseable {
  static final String BOUNDARY = "frontier";
  private static final String FORM_TYPE = "multipart/form-data; boundary=" + BOUNDARY;
  private static final long MAX_BYTES = 4 << 20;

  final FakeWorkers workers = new FakeWorkers();
  final FakePolled polled;
  final Jobs jobs;
  final FileBlobStore blobs;
  private final TaskStore store;
  private final HttpServer listener;
  private final Contract contract;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  ApiServer(Path folder, String... keysAndValues) {
    Map<String, String> flags = new HashMap<>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      flags.put(keysAndValues[i], keysAndValues[i + 1]);
    }
    JobsSettings settings =
        Configuration.read(List.of(JobsSettings.SECTION), null, flags).get(JobsSettings.SECTION);
    store = TaskStore.open(StoreOptions.in(folder.resolve("store")));
    blobs = FileBlobStore.open(folder.resolve("blobs"));
    jobs =
        Jobs.open(
            store,
            blobs,
            settings.jobTypes(_ -> true),
            settings.options(),
            new Jobs.Environment(Clock.systemUTC(), new Random(3)));
    polled = new FakePolled(jobs.registry(), blobs);
    ErrorResponses responses = new ErrorResponses();
    Routes routes =
        new Routes(new SimpleMeterRegistry())
            .addAll(
                JobsPart.routes(
                    new JobsPart.Served(jobs, workers, polled, blobs, MAX_BYTES, Traces.OFF),
                    settings));
    contract = Contract.of(routes.all());
    JobsPart.addErrors(responses);
    new BlobApi(blobs, MAX_BYTES).addErrorResponses(responses);
    listener =
        HttpServer.start(
            InetAddress.getLoopbackAddress(),
            0,
            HttpLimits.DEFAULT,
            AccessCheck.OPEN,
            routes,
            responses);
  }

  HttpClient client() {
    return client;
  }

  int port() {
    return listener.port();
  }

  String at(String path) {
    return "://127.0.0.1:" + listener.port() + path;
  }

  /** Sends a request with a body that is not held against the OpenAPI document. */
  HttpResponse<String> send(String method, String path, BodyPublisher body, String... headers)
      throws IOException, InterruptedException {
    return checked(method, path, body, "", headers);
  }

  private HttpResponse<String> checked(
      String method, String path, BodyPublisher body, String text, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http" + at(path)))
            .timeout(Duration.ofSeconds(30))
            .method(method, body);
    if (headers.length > 0) {
      request.headers(headers);
    }
    HttpResponse<String> response = client.send(request.build(), BodyHandlers.ofString());
    contract.check(method, request.build().uri(), text, response);
    return response;
  }

  HttpResponse<String> get(String path, String... headers)
      throws IOException, InterruptedException {
    return send("GET", path, BodyPublishers.noBody(), headers);
  }

  JsonNode json(String path) throws IOException, InterruptedException {
    return Json.MAPPER.readTree(get(path).body());
  }

  HttpResponse<String> post(String path, String body, String... headers)
      throws IOException, InterruptedException {
    return checked("POST", path, BodyPublishers.ofString(body), body, headers);
  }

  /** Submits a form of these names and values. */
  HttpResponse<String> submit(String path, String... fields)
      throws IOException, InterruptedException {
    String form = form(fields);
    return checked("POST", path, BodyPublishers.ofString(form), form, "Content-Type", FORM_TYPE);
  }

  /** Submits a job with a payload that tells its key; gives its id. */
  String submitted(String key, String priority) throws IOException, InterruptedException {
    HttpResponse<String> answer =
        submit("/api/jobs/submit", "Key", key, "Payload", "p of " + key, "Priority", priority);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
    return Json.MAPPER.readTree(answer.body()).get("id").asString();
  }

  /** Submits what may be a form. */
  HttpResponse<String> form(String path, BodyPublisher body, String... headers)
      throws IOException, InterruptedException {
    return send(
        "POST",
        path,
        body,
        Stream.concat(Stream.of("Content-Type", FORM_TYPE), Stream.of(headers))
            .toArray(String[]::new));
  }

  static String form(String... fields) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < fields.length; i += 2) {
      text.append("--" + BOUNDARY + "\r\nContent-Disposition: form-data; name=\"")
          .append(fields[i])
          .append("\"\r\n\r\n")
          .append(fields[i + 1])
          .append("\r\n");
    }
    return text.append("--" + BOUNDARY + "--\r\n").toString();
  }

  /** How many payloads lie in files. */
  long blobCount() {
    try (var all = blobs.list("")) {
      return all.count();
    }
  }

  @Override
  public void close() {
    client.shutdownNow();
    listener.stop();
    store.close();
  }
}
