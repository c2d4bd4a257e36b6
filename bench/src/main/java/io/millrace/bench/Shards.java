package io.millrace.bench;

import io.millrace.bench.Measurement.Load;
import io.millrace.bench.MillraceProcess.Usage;
import io.millrace.bench.StoresLatency.DelayingProxy;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.client.JsonCalls;
import io.millrace.store.Owner;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;
import tools.jackson.databind.JsonNode;

/**
 * One to three servers that lead eight shards of a store in the databases of {@code --store}, with
 * time added to each round trip to the database: lifecycles per second by a client that knows all
 * servers, each of whose callers has a group of its own.
 */
final class Shards extends Scenario {
  private static final int SHARDS = 8;
  private static final int MOST_SERVERS = 3;
  private static final int CALLERS = 96;
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
        double ofOne = 0;
        for (int count = 1; count <= MOST_SERVERS; count++) {
          double rate = measure(context, url.split(":", 3)[1], proxy.url(), count, ofOne);
          ofOne = count == 1 ? rate : ofOne;
        }
      }
    }
  }

  /** Measures so many servers. */
  private double measure(Context context, String kind, String url, int count, double ofOne)
      throws IOException, InterruptedException {
    Map<String, String> settings = StoresLatency.settings(context, url);
    String storeName = Objects.requireNonNull(settings.get("store.name"));
    List<MillraceProcess> servers = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        servers.add(
            MillraceProcess.server(
                context,
                context.newFolder("server-" + count + "-" + i),
                "--no-node",
                "--store",
                url,
                "--set",
                "store.name=" + storeName,
                "--set",
                "store.shards=" + SHARDS));
      }
      awaitSpread(servers);
      List<URI> addresses = servers.stream().map(MillraceProcess::address).toList();
      try (HttpTaskStore store = HttpTaskStore.open(ClientOptions.at(addresses))) {
        List<Usage> before = servers.stream().map(MillraceProcess::usage).toList();
        long began = System.nanoTime();
        Load load = load(store, Load.Window.after(context.time()));
        double seconds = (System.nanoTime() - began) / 1e9;
        List<String> cores = new ArrayList<>();
        for (int i = 0; i < count; i++) {
          double millis = servers.get(i).usage().since(before.get(i)).server();
          cores.add(String.format(Locale.ROOT, "%.2f", millis / 1e3 / seconds));
        }
        Measurement measured =
            Measurement.of(
                name(),
                "%s, %d ms added, %d shards, %d callers, servers: %d (cores: %s)"
                    .formatted(
                        kind, ROUND_TRIP_MILLIS, SHARDS, CALLERS, count, String.join(", ", cores)),
                load);
        context.add(
            count == 1 ? measured : measured.withRatio(load.perSecond() / ofOne, "one server"));
        return load.perSecond();
      }
    } finally {
      servers.forEach(MillraceProcess::close);
    }
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

  private static Load load(TaskStore store, Load.Window window) throws InterruptedException {
    return Load.ofCallers(
        CALLERS,
        window,
        caller -> {
          String group = "caller" + caller + "/" + Lifecycle.GROUP;
          Lifecycle lifecycle = new Lifecycle(store, Owner.client(caller + 1), group);
          return () -> call(lifecycle, window);
        });
  }

  private static Load call(Lifecycle lifecycle, Load.Window window) {
    Histogram latency = Load.histogram();
    long count = 0;
    long began = System.nanoTime();
    while (began < window.until()) {
      while (!lifecycle.call()) {
        // The next step follows.
      }
      long now = System.nanoTime();
      if (began >= window.from() && now < window.until()) {
        count++;
        latency.recordValue(now - began);
      }
      began = now;
    }
    return new Load(count, window.nanos(), latency);
  }
}
