package io.millrace.bench;

import io.millrace.bench.Measurement.Load;
import io.millrace.bench.MillraceProcess.Usage;
import io.millrace.bench.StoresLatency.DelayingProxy;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.client.JsonCalls;
import io.millrace.client.jobs.JobClient;
import io.millrace.client.jobs.JobKind;
import io.millrace.client.jobs.JobWorker;
import io.millrace.client.jobs.JobWorkerOptions;
import io.millrace.store.Owner;
import io.millrace.store.StoreException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/**
 * One to three servers that lead eight shards of a store in the databases of {@code --store}, with
 * time added to each round trip to the database: lifecycles per second by a client that knows all
 * servers, each of whose callers has a group of its own, and jobs per second of many types, each
 * with a worker.
 */
final class Shards extends Scenario {
  private static final int SHARDS = 8;
  private static final int MOST_SERVERS = 3;
  private static final int CALLERS = 96;
  private static final int TYPES = 32;
  private static final Duration LONGEST_JOB = Duration.ofMinutes(1);
  private static final int ROUND_TRIP_MILLIS = 5;

  Shards() {
    super(
        "shards",
        "one to three servers of a store with eight shards in the databases of --store, with added"
            + " latency");
  }

  @Override
  void run(Context context) throws IOException, InterruptedException {
    if (!MillraceProcess.isHere() || context.stores().isEmpty()) {
      context.say(name(), "left out, as it needs the program and --store");
      return;
    }
    for (String url : context.stores()) {
      try (DelayingProxy proxy = DelayingProxy.before(url, ROUND_TRIP_MILLIS)) {
        Map<String, Double> ofOne = new HashMap<>();
        for (int count = 1; count <= MOST_SERVERS; count++) {
          measure(context, url.split(":", 3)[1], proxy.url(), count, ofOne);
        }
      }
    }
  }

  /** A load on servers at these addresses. */
  @FunctionalInterface
  private interface Work {
    Load on(List<URI> servers, Duration time) throws InterruptedException;
  }

  /** Measures so many servers; keeps the rates of one. */
  private void measure(
      Context context, String kind, String url, int count, Map<String, Double> ofOne)
      throws IOException, InterruptedException {
    Map<String, String> settings = StoresLatency.settings(context, url);
    List<String> options = new ArrayList<>(List.of("--no-node", "--store", url));
    options.addAll(List.of("--set", "store.name=" + settings.get("store.name")));
    options.addAll(List.of("--set", "store.shards=" + SHARDS));
    for (int i = 0; i < TYPES; i++) {
      options.addAll(List.of("--set", "jobs.types." + type(i).name() + ".description=bench"));
    }
    List<MillraceProcess> servers = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        Path folder = context.newFolder("server-" + count + "-" + i);
        servers.add(MillraceProcess.server(context, folder, options.toArray(String[]::new)));
      }
      awaitSpread(servers);
      report(context, kind, servers, "lifecycles", Shards::lifecycles, ofOne);
      report(context, kind, servers, "jobs", Shards::jobs, ofOne);
    } finally {
      servers.forEach(MillraceProcess::close);
    }
  }

  private void report(
      Context context,
      String kind,
      List<MillraceProcess> servers,
      String what,
      Work work,
      Map<String, Double> ofOne)
      throws InterruptedException {
    List<Usage> before = servers.stream().map(MillraceProcess::usage).toList();
    long began = System.nanoTime();
    Load load = work.on(servers.stream().map(MillraceProcess::address).toList(), context.time());
    double seconds = (System.nanoTime() - began) / 1e9;
    List<String> cores = new ArrayList<>();
    for (int i = 0; i < servers.size(); i++) {
      double millis = servers.get(i).usage().since(before.get(i)).server();
      cores.add(String.format(Locale.ROOT, "%.2f", millis / 1e3 / seconds));
    }
    Measurement measured =
        Measurement.of(
                name(),
                "%s, %d ms added, %d shards, %d callers, servers: %d (cores: %s)"
                    .formatted(
                        kind,
                        ROUND_TRIP_MILLIS,
                        SHARDS,
                        CALLERS,
                        servers.size(),
                        String.join(", ", cores)),
                load.perSecond(),
                what + "/s")
            .withLatency(load.micros(50), load.micros(99));
    Double one = ofOne.putIfAbsent(what, load.perSecond());
    context.add(one == null ? measured : measured.withRatio(load.perSecond() / one, "one server"));
  }

  /** Waits until each server leads its share. */
  private static void awaitSpread(List<MillraceProcess> servers) {
    while (true) {
      List<Integer> counts = servers.stream().map(Shards::leads).toList();
      int least = SHARDS / servers.size();
      if (counts.stream().allMatch(count -> count >= least)
          && counts.stream().collect(Collectors.summingInt(count -> count)) == SHARDS) {
        return;
      }
    }
  }

  private static int leads(MillraceProcess server) {
    try (JsonCalls calls = JsonCalls.open(ClientOptions.at(List.of(server.address())))) {
      int count = 0;
      for (JsonNode shard : calls.get("/shards")) {
        count += shard.path("role").asString().equals("leader") ? 1 : 0;
      }
      return count;
    } catch (StoreException _) {
      return 0;
    }
  }

  private static Load lifecycles(List<URI> servers, Duration time) throws InterruptedException {
    try (HttpTaskStore store = HttpTaskStore.open(ClientOptions.at(servers))) {
      Load.Window window = Load.Window.after(time);
      return Load.ofCallers(
          CALLERS,
          window,
          caller -> {
            String group = "caller" + caller + "/" + Lifecycle.GROUP;
            Lifecycle lifecycle = new Lifecycle(store, Owner.client(caller + 1), group);
            return () ->
                Load.ofCalls(
                    window,
                    () -> {
                      while (!lifecycle.call()) {
                        // The next step follows.
                      }
                    });
          });
    }
  }

  private static JobKind<String, String> type(int number) {
    return JobKind.of("type" + number + ".job", String.class, String.class);
  }

  /** Jobs from submission until the submitter has the result. */
  private static Load jobs(List<URI> servers, Duration time) throws InterruptedException {
    ClientOptions options = ClientOptions.at(servers);
    List<JobWorker> workers = new ArrayList<>();
    try (JobClient client = JobClient.open(options)) {
      for (int i = 0; i < TYPES; i++) {
        JobWorkerOptions worker =
            JobWorkerOptions.at(servers.getFirst(), "worker" + i)
                .withServer(options)
                .withConcurrency(CALLERS / TYPES);
        workers.add(JobWorker.start(worker, type(i), (payload, _) -> payload));
      }
      workers.forEach(worker -> worker.onReady().join());
      Load.Window window = Load.Window.after(time);
      return Load.ofCallers(
          CALLERS,
          window,
          caller -> {
            JobKind<String, String> kind = type(caller % TYPES);
            return () -> Load.ofCalls(window, () -> client.call(kind, "small", LONGEST_JOB));
          });
    } finally {
      workers.forEach(JobWorker::close);
    }
  }
}
