package io.millrace.cli.storm;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.queues.Program;
import io.millrace.cli.storm.Transcript.ResultFate;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.store.Position;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Workers that disconnect, fail, stall, answer late and send garbage while jobs run and the server
 * is killed. {@code -Dmillrace.storm.workers=200 -Dmillrace.storm.jobs=5000} makes it larger,
 * {@code -Dmillrace.storm.kills=N} kills more often, {@code -Dmillrace.storm.seed=N} repeats the
 * workers' dice.
 */
@Timeout(1_800)
class WorkerStormTest {
  private static final int WORKERS = Integer.getInteger("millrace.storm.workers", 20);
  private static final int JOBS = Integer.getInteger("millrace.storm.jobs", 350);
  private static final int KILLS = Integer.getInteger("millrace.storm.kills", 1);
  private static final long SEED = Long.getLong("millrace.storm.seed", System.nanoTime());

  @TempDir private Path root;

  @Test
  void every_job_ends_once_whatever_workers_do_and_though_the_server_is_killed(
      TestReporter reporter) throws Exception {
    reporter.publishEntry("seed", String.valueOf(SEED));
    try (HttpClient client =
            HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .executor(Executors.newVirtualThreadPerTaskExecutor())
                .build();
        StormServer server = new StormServer(root);
        HttpTaskStore store = HttpTaskStore.open(ClientOptions.at(server.at("/")));
        StormClients clients = new StormClients(client, server)) {
      Position start = History.now(store);
      List<StormWorker> workers = workers(client, server);
      try {
        submitAndKill(clients, server);
        clients.awaitEnds(JOBS);
      } finally {
        workers.forEach(StormWorker::close);
      }
      History history = History.since(store, start);
      Map<Long, ResultFate> fates = fates(workers, history);
      check(clients, history, fates, reporter);
      reporter.publishEntry("clients", clients.toString());
      server.stop();
    }
    Program.awaitNone(root);
  }

  private static List<StormWorker> workers(HttpClient client, StormServer server) {
    SplittableRandom random = new SplittableRandom(SEED);
    return IntStream.range(0, WORKERS)
        .mapToObj(
            i -> new StormWorker(client, server, "worker-" + i, i % 4 == 0 ? 3 : 1, random.split()))
        .toList();
  }

  /** Kills the server whenever a further part of the jobs has been taken. */
  private static void submitAndKill(StormClients clients, StormServer server) throws Exception {
    List<CountDownLatch> parts = new ArrayList<>();
    for (int kill = 1; kill <= KILLS; kill++) {
      parts.add(new CountDownLatch(JOBS * kill / (KILLS + 1)));
    }
    List<Future<?>> submitting =
        clients.submit(JOBS, _ -> parts.forEach(CountDownLatch::countDown));
    for (CountDownLatch part : parts) {
      part.await();
      server.killAndStart();
    }
    StormClients.join(submitting);
  }

  private static Map<Long, ResultFate> fates(List<StormWorker> workers, History history) {
    Map<Long, ResultFate> fates = new HashMap<>();
    for (StormWorker worker : workers) {
      for (Transcript transcript : worker.transcripts()) {
        fates.putAll(transcript.fates(history.keys()));
      }
    }
    return fates;
  }

  private static void check(
      StormClients clients, History history, Map<Long, ResultFate> fates, TestReporter reporter)
      throws IOException, InterruptedException {
    List<String> expected = IntStream.range(0, JOBS).mapToObj(Payloads::key).toList();
    assertThat(history.keys().values()).containsExactlyInAnyOrderElementsOf(expected);
    assertThat(history.ended()).isEqualTo(history.keys().keySet());
    Map<String, Integer> counts = new TreeMap<>();
    fates.values().forEach(fate -> counts.merge("results " + fate, 1, Integer::sum));
    HashSet<Long> stored = new HashSet<>();
    for (JsonNode job : JsonMapper.shared().readTree(clients.get("/api/jobs"))) {
      String key = job.path("key").asString();
      String status = job.path("status").asString();
      counts.merge("jobs " + status, 1, Integer::sum);
      if (status.equals("done")) {
        long attempt = Payloads.attemptOf(key, clients.get("/api/jobs/" + key + "/result"));
        assertThat(fates).as("the results sent").containsKey(attempt);
        assertThat(fates.get(attempt)).as(key).isNotEqualTo(ResultFate.REFUSED);
        stored.add(attempt);
      } else {
        assertThat(status).isEqualTo("failed");
        assertThat(job.path("failures").asInt()).as(key).isEqualTo(3);
        assertThat(history.results()).doesNotContain(job.path("id").asString());
      }
    }
    reporter.publishEntry("counts", counts.toString());
    assertThat(stored).hasSameSizeAs(history.results());
    fates.forEach((attempt, fate) -> {
      if (fate == ResultFate.ACCEPTED) {
        assertThat(stored).as("what the workers were let believe").contains(attempt);
      }
    });
    assertThat(stored.size()).as("jobs done").isGreaterThan(JOBS / 2);
    assertThat(counts).as("refusals were met").containsKey("results REFUSED");
  }
}
