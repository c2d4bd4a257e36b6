package io.millrace.cli.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/** Clients that submit jobs and wait for them, and retry if they get no response. */
final class StormClients implements AutoCloseable {
  private static final int AT_ONCE = 16;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final HttpClient client;
  private final StormServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final AtomicInteger unanswered = new AtomicInteger();
  private final AtomicInteger thereAlready = new AtomicInteger();

  StormClients(HttpClient client, StormServer server) {
    this.client = client;
    this.server = server;
  }

  /** A task of a client. */
  private interface ClientTask {
    void run(int number) throws IOException, InterruptedException;
  }

  /** Some clients together do something for each number below {@code count}. */
  private List<Future<?>> each(int count, ClientTask errand) {
    AtomicInteger next = new AtomicInteger();
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < AT_ONCE; i++) {
      all.add(
          threads.submit(() -> {
            for (int job = next.getAndIncrement(); job < count; job = next.getAndIncrement()) {
              errand.run(job);
            }
            return null;
          }));
    }
    return all;
  }

  static void join(List<Future<?>> all) throws InterruptedException, ExecutionException {
    for (Future<?> each : all) {
      each.get();
    }
  }

  /** Starts to submit jobs, and reports each one that has been accepted. */
  List<Future<?>> submit(int count, IntConsumer taken) {
    return each(
        count,
        number -> {
          submit(number);
          taken.accept(number);
        });
  }

  private void submit(int number) throws IOException, InterruptedException {
    String key = Payloads.key(number);
    String form =
        "--b\r\nContent-Disposition: form-data; name=\"Priority\"\r\n\r\n"
            + (number % 3 == 0 ? "batch" : "immediate")
            + "\r\n--b\r\nContent-Disposition: form-data; name=\"Key\"\r\n\r\n"
            + key
            + "\r\n--b\r\nContent-Disposition: form-data; name=\"Payload\"\r\n\r\n"
            + Payloads.payload(number)
            + "\r\n--b--\r\n";
    HttpRequest request =
        HttpRequest.newBuilder(server.at("/api/jobs/submit"))
            .timeout(PATIENCE)
            .header("Content-Type", "multipart/form-data; boundary=b")
            .POST(BodyPublishers.ofString(form))
            .build();
    boolean asked = false;
    while (true) {
      try {
        HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
        if (answer.statusCode() == 202) {
          return;
        }
        if (answer.statusCode() == 400 && asked) {
          // An earlier request was served although its answer was lost.
          assertThat(answer.body()).contains(key);
          thereAlready.incrementAndGet();
          return;
        }
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
      } catch (IOException _) {
        unanswered.incrementAndGet();
        server.up().join();
      }
      asked = true;
    }
  }

  /** Waits until so many jobs have ended. */
  void awaitEnds(int count) throws InterruptedException, ExecutionException {
    join(
        each(
            count,
            number -> {
              String path = "/api/jobs/" + Payloads.key(number) + "/wait?timeout=20";
              String answer;
              do {
                answer = get(path);
              } while (!answer.contains("\"status\":\"done\"")
                  && !answer.contains("\"status\":\"failed\""));
            }));
  }

  String get(String path) throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(server.at(path)).timeout(PATIENCE).build();
    HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  @Override
  public String toString() {
    return unanswered + " submissions without an answer, " + thereAlready + " of them were served";
  }

  @Override
  public void close() {
    threads.shutdownNow();
    threads.close();
  }
}
