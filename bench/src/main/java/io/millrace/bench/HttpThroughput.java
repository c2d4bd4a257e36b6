package io.millrace.bench;

import io.millrace.bench.CommandLoad.Clients;
import io.millrace.client.HttpTaskStore;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.TaskStore;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** An empty store over HTTP, one task in each request, beside Redis, beanstalkd and an echo. */
final class HttpThroughput extends Scenario {
  private static final int MANY = 32;

  /** The server and its peers take turns, because the speed of a disk varies. */
  private static final int ROUNDS = 2;

  HttpThroughput() {
    super(
        "http",
        "an empty store over HTTP, one task in a request, beside Redis, beanstalkd and an echo");
  }

  /** Starts a peer in a folder; null if it is not installed. */
  private interface Start {
    @Nullable ServerProcess in(Path folder) throws IOException;
  }

  @Override
  void run(Context context) throws IOException {
    double echo = echo(context);
    List<String> ratios = new ArrayList<>();
    Path folder = context.newFolder("http");
    try (ServerProcess child = ServerProcess.store(context, folder, Journaling.STRICT)) {
      ratios.addAll(strict(context, child, Clients.ofOneThread(MANY), echo));
      ratios.addAll(strict(context, child, Clients.ofOneThread(1), 0));
      ratios.addAll(strict(context, child, Clients.independent(MANY), 0));
      ratios.addAll(strict(context, child, Clients.independent(1), 0));
    }
    folder = context.newFolder("http");
    try (ServerProcess child = ServerProcess.store(context, folder, Journaling.OPPORTUNISTIC)) {
      double many = store(context, child, "opportunistic", Clients.ofOneThread(MANY));
      compare(context, many, echo, "the echo, 32 connections", 0);
      store(context, child, "opportunistic", Clients.ofOneThread(1));
    }
    context.say(name(), "ratios, strict: " + String.join("; ", ratios));
  }

  /** The store and its peers in turns; returns the ratios in words. */
  private List<String> strict(Context context, ServerProcess child, Clients clients, double echo)
      throws IOException {
    double strict = 0;
    double redis = 0;
    double beanstalkd = 0;
    for (int round = 0; round < ROUNDS; round++) {
      redis += redis(context, clients) / ROUNDS;
      strict += store(context, child, "strict", clients) / ROUNDS;
      beanstalkd += beanstalkd(context, clients) / ROUNDS;
    }
    boolean many = clients.connections() == MANY;
    List<String> ratios = new ArrayList<>();
    ratios.addAll(compare(context, strict, redis, "Redis, " + clients, many ? 0.9 : 0));
    ratios.addAll(compare(context, strict, beanstalkd, "beanstalkd, " + clients, many ? 3 : 0));
    compare(context, strict, echo, "the echo, " + clients, 0);
    return ratios;
  }

  /** Reports a ratio and returns it in words; nothing if the other one was not measured. */
  private List<String> compare(
      Context context, double ours, double theirs, String to, double target) {
    if (theirs == 0) {
      return List.of();
    }
    double ratio = ours / theirs;
    Measurement measurement =
        Measurement.of(name(), "  beside " + to, ours, "lifecycles/s").withRatio(ratio, to);
    context.add(target > 0 ? measurement.withTarget("≥ " + target, ratio >= target) : measurement);
    return List.of(String.format(Locale.ROOT, "%.2f of %s", ratio, to));
  }

  private double echo(Context context) throws IOException {
    try (ServerProcess child = ServerProcess.echo(context)) {
      int port = child.port();
      Clients clients = Clients.ofOneThread(MANY);
      return CommandLoad.run(
              context, child, clients, client -> Protocol.Repeated.echo(port, client))
          .report(context, name(), "echo × 3, " + clients);
    }
  }

  private double store(Context context, ServerProcess child, String kind, Clients clients)
      throws IOException {
    int port = child.port();
    return CommandLoad.run(
            context, child, clients, client -> new Protocol.StoreTasks(port, client, 1))
        .report(context, name(), kind + ", " + clients);
  }

  private double redis(Context context, Clients clients) throws IOException {
    String what = "Redis, appendfsync always, " + clients;
    return peer(context, what, clients, ServerProcess::redis, Protocol.Redis::new);
  }

  private double beanstalkd(Context context, Clients clients) throws IOException {
    String what = "beanstalkd -f 0, " + clients;
    return peer(context, what, clients, ServerProcess::beanstalkd, _ -> new Protocol.Beanstalk());
  }

  /** Lifecycles per second; 0 if the peer is not installed. */
  private double peer(
      Context context,
      String what,
      Clients clients,
      Start start,
      IntFunction<Protocol> conversations)
      throws IOException {
    Path folder = context.newFolder("peer");
    try (ServerProcess child = start.in(folder)) {
      if (child == null) {
        context.say(name(), what + ": left out, as it is not installed");
        return 0;
      }
      return CommandLoad.run(context, child, clients, conversations).report(context, name(), what);
    }
  }

  /** The same through the Java client, in turns with raw sockets, each caller with a thread. */
  static final class JavaClient extends Scenario {
    /** Short turns, of which the median counts: the machine and its disk wander within seconds. */
    private static final int TURNS = 5;

    JavaClient() {
      super(
          "java-client",
          "an empty store over HTTP through the Java client, one task in a request, beside raw"
              + " sockets");
    }

    @Override
    void run(Context context) throws IOException {
      Context turn = context.withTime(context.time().dividedBy(TURNS));
      List<String> ratios = new ArrayList<>();
      for (Journaling journaling : List.of(Journaling.STRICT, Journaling.OPPORTUNISTIC)) {
        Path folder = context.newFolder("client");
        try (ServerProcess child = ServerProcess.store(context, folder, journaling);
            HttpTaskStore store =
                HttpTaskStore.open(URI.create("http://127.0.0.1:" + child.port()))) {
          // Both sides compile their code under this load.
          var _ = callers(context, child, store, MANY);
          for (int callers : List.of(1, MANY)) {
            ratios.add(inTurns(turn, child, store, journaling, callers));
          }
        }
      }
      context.say(name(), "ratios to raw sockets: " + String.join("; ", ratios));
    }

    /** Both in turns; gives the ratio in words. */
    private String inTurns(
        Context turn, ServerProcess child, TaskStore store, Journaling journaling, int callers)
        throws IOException {
      String kind = journaling.name().toLowerCase(Locale.ROOT);
      String shape = callers == 1 ? "1 caller" : callers + " callers";
      List<CommandLoad> raw = new ArrayList<>();
      List<CommandLoad> client = new ArrayList<>();
      List<Double> ratios = new ArrayList<>();
      for (int i = 0; i < TURNS; i++) {
        raw.add(
            CommandLoad.run(
                turn,
                child,
                Clients.independent(callers),
                id -> new Protocol.StoreTasks(child.port(), id, 1)));
        client.add(callers(turn, child, store, callers));
        ratios.add(client.getLast().load().perSecond() / raw.getLast().load().perSecond());
      }
      median(raw).report(turn, name(), kind + ", raw sockets, " + shape);
      CommandLoad median = median(client);
      double ratio = ratios.stream().sorted().toList().get(TURNS / 2);
      Measurement measurement =
          Measurement.of(name(), median.describe(kind + ", Java client, " + shape), median.load())
              .withRatio(ratio, "raw sockets");
      turn.add(
          journaling == Journaling.STRICT
              ? measurement.withTarget("≥ 0.9", ratio >= 0.9)
              : measurement);
      return String.format(Locale.ROOT, "%.2f %s, %s", ratio, kind, shape);
    }

    private static CommandLoad callers(
        Context context, ServerProcess child, TaskStore store, int callers) throws IOException {
      List<CommandLoad.Caller> clients = new ArrayList<>();
      for (int i = 0; i < callers; i++) {
        Lifecycle lifecycle = new Lifecycle(store, Owner.client(i + 1));
        clients.add(() -> lifecycle.call() ? 1 : 0);
      }
      return CommandLoad.run(context, child, clients);
    }

    private static CommandLoad median(List<CommandLoad> turns) {
      return turns.stream()
          .sorted(Comparator.comparingDouble(turn -> turn.load().perSecond()))
          .toList()
          .get(TURNS / 2);
    }
  }

  /** Add, claim and delete of many tasks in each request. */
  static final class HttpBatches extends Scenario {
    private static final int BATCH = 100;

    HttpBatches() {
      super("http-batches", "an empty store over HTTP, " + BATCH + " tasks in a request");
    }

    @Override
    void run(Context context) throws IOException {
      for (Journaling journaling : List.of(Journaling.STRICT, Journaling.OPPORTUNISTIC)) {
        Path folder = context.newFolder("batches");
        try (ServerProcess child = ServerProcess.store(context, folder, journaling)) {
          for (int connections : List.of(1, 32)) {
            measure(context, child, journaling, connections);
          }
        }
      }
    }

    private void measure(
        Context context, ServerProcess child, Journaling journaling, int connections)
        throws IOException {
      int port = child.port();
      CommandLoad driven =
          CommandLoad.run(
              context,
              child,
              Clients.ofOneThread(connections),
              client -> new Protocol.StoreTasks(port, client, BATCH));
      String what =
          journaling.name().toLowerCase(Locale.ROOT) + ", " + connections + " × batches of 100";
      Measurement measurement = Measurement.of(name(), driven.describe(what), driven.load());
      double rate = driven.load().perSecond();
      context.add(
          connections > 1 && journaling == Journaling.STRICT
              ? measurement.withTarget("≥ 150,000/s", rate >= 150_000)
              : measurement);
    }
  }
}
