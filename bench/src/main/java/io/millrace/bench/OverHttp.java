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
final class OverHttp extends Scenario {
  private static final int MANY = 32;

  /** The server and its peers take turns, because the speed of a disk varies. */
  private static final int ROUNDS = 2;

  OverHttp() {
    super(
        "http",
        "an empty store over HTTP, one task in a request, beside Redis, beanstalkd and an echo");
  }

  /** Starts a peer in a folder; null if it is not installed. */
  private interface Start {
    @Nullable ServerProcess in(Path folder) throws IOException;
  }

  @Override
  void run(Setting setting) throws IOException {
    double echo = echo(setting);
    List<String> ratios = new ArrayList<>();
    Path folder = setting.newFolder("http");
    try (ServerProcess child = ServerProcess.store(setting, folder, Journaling.STRICT)) {
      ratios.addAll(strict(setting, child, Clients.ofOneThread(MANY), echo));
      ratios.addAll(strict(setting, child, Clients.ofOneThread(1), 0));
      ratios.addAll(strict(setting, child, Clients.independent(MANY), 0));
      ratios.addAll(strict(setting, child, Clients.independent(1), 0));
    }
    folder = setting.newFolder("http");
    try (ServerProcess child = ServerProcess.store(setting, folder, Journaling.OPPORTUNISTIC)) {
      double many = store(setting, child, "opportunistic", Clients.ofOneThread(MANY));
      compare(setting, many, echo, "the echo, 32 connections", 0);
      store(setting, child, "opportunistic", Clients.ofOneThread(1));
    }
    setting.say(name(), "ratios, strict: " + String.join("; ", ratios));
  }

  /** The store and its peers in turns; returns the ratios in words. */
  private List<String> strict(Setting setting, ServerProcess child, Clients clients, double echo)
      throws IOException {
    double strict = 0;
    double redis = 0;
    double beanstalkd = 0;
    for (int round = 0; round < ROUNDS; round++) {
      redis += redis(setting, clients) / ROUNDS;
      strict += store(setting, child, "strict", clients) / ROUNDS;
      beanstalkd += beanstalkd(setting, clients) / ROUNDS;
    }
    boolean many = clients.connections() == MANY;
    List<String> ratios = new ArrayList<>();
    ratios.addAll(compare(setting, strict, redis, "Redis, " + clients, many ? 0.9 : 0));
    ratios.addAll(compare(setting, strict, beanstalkd, "beanstalkd, " + clients, many ? 3 : 0));
    compare(setting, strict, echo, "the echo, " + clients, 0);
    return ratios;
  }

  /** Reports a ratio and returns it in words; nothing if the other one was not measured. */
  private List<String> compare(
      Setting setting, double ours, double theirs, String to, double target) {
    if (theirs == 0) {
      return List.of();
    }
    double ratio = ours / theirs;
    Figure figure = Figure.of(name(), "  beside " + to, ours, "lifecycles/s").withRatio(ratio, to);
    setting.add(target > 0 ? figure.withTarget("≥ " + target, ratio >= target) : figure);
    return List.of(String.format(Locale.ROOT, "%.2f of %s", ratio, to));
  }

  private double echo(Setting setting) throws IOException {
    try (ServerProcess child = ServerProcess.echo(setting)) {
      int port = child.port();
      Clients clients = Clients.ofOneThread(MANY);
      return CommandLoad.run(
              setting, child, clients, client -> Conversation.Repeated.echo(port, client))
          .report(setting, name(), "echo × 3, " + clients);
    }
  }

  private double store(Setting setting, ServerProcess child, String kind, Clients clients)
      throws IOException {
    int port = child.port();
    return CommandLoad.run(
            setting, child, clients, client -> new Conversation.StoreTasks(port, client, 1))
        .report(setting, name(), kind + ", " + clients);
  }

  private double redis(Setting setting, Clients clients) throws IOException {
    String what = "Redis, appendfsync always, " + clients;
    return peer(setting, what, clients, ServerProcess::redis, Conversation.Redis::new);
  }

  private double beanstalkd(Setting setting, Clients clients) throws IOException {
    String what = "beanstalkd -f 0, " + clients;
    return peer(
        setting, what, clients, ServerProcess::beanstalkd, _ -> new Conversation.Beanstalk());
  }

  /** Lifecycles per second; 0 if the peer is not installed. */
  private double peer(
      Setting setting,
      String what,
      Clients clients,
      Start start,
      IntFunction<Conversation> conversations)
      throws IOException {
    Path folder = setting.newFolder("peer");
    try (ServerProcess child = start.in(folder)) {
      if (child == null) {
        setting.say(name(), what + ": left out, as it is not installed");
        return 0;
      }
      return CommandLoad.run(setting, child, clients, conversations).report(setting, name(), what);
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
    void run(Setting setting) throws IOException {
      Setting turn = setting.withTime(setting.time().dividedBy(TURNS));
      List<String> ratios = new ArrayList<>();
      for (Journaling journaling : List.of(Journaling.STRICT, Journaling.OPPORTUNISTIC)) {
        Path folder = setting.newFolder("client");
        try (ServerProcess child = ServerProcess.store(setting, folder, journaling);
            HttpTaskStore store =
                HttpTaskStore.open(URI.create("http://127.0.0.1:" + child.port()))) {
          // Both sides compile their code under this load.
          var _ = callers(setting, child, store, MANY);
          for (int callers : List.of(1, MANY)) {
            ratios.add(inTurns(turn, child, store, journaling, callers));
          }
        }
      }
      setting.say(name(), "ratios to raw sockets: " + String.join("; ", ratios));
    }

    /** Both in turns; gives the ratio in words. */
    private String inTurns(
        Setting turn, ServerProcess child, TaskStore store, Journaling journaling, int callers)
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
                id -> new Conversation.StoreTasks(child.port(), id, 1)));
        client.add(callers(turn, child, store, callers));
        ratios.add(client.getLast().load().perSecond() / raw.getLast().load().perSecond());
      }
      median(raw).report(turn, name(), kind + ", raw sockets, " + shape);
      CommandLoad median = median(client);
      double ratio = ratios.stream().sorted().toList().get(TURNS / 2);
      Figure figure =
          Figure.of(name(), median.describe(kind + ", Java client, " + shape), median.load())
              .withRatio(ratio, "raw sockets");
      turn.add(journaling == Journaling.STRICT ? figure.withTarget("≥ 0.9", ratio >= 0.9) : figure);
      return String.format(Locale.ROOT, "%.2f %s, %s", ratio, kind, shape);
    }

    private static CommandLoad callers(
        Setting setting, ServerProcess child, TaskStore store, int callers) throws IOException {
      List<CommandLoad.Caller> clients = new ArrayList<>();
      for (int i = 0; i < callers; i++) {
        Lifecycle lifecycle = new Lifecycle(store, Owner.client(i + 1));
        clients.add(() -> lifecycle.call() ? 1 : 0);
      }
      return CommandLoad.run(setting, child, clients);
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
    void run(Setting setting) throws IOException {
      for (Journaling journaling : List.of(Journaling.STRICT, Journaling.OPPORTUNISTIC)) {
        Path folder = setting.newFolder("batches");
        try (ServerProcess child = ServerProcess.store(setting, folder, journaling)) {
          for (int connections : List.of(1, 32)) {
            measure(setting, child, journaling, connections);
          }
        }
      }
    }

    private void measure(
        Setting setting, ServerProcess child, Journaling journaling, int connections)
        throws IOException {
      int port = child.port();
      CommandLoad driven =
          CommandLoad.run(
              setting,
              child,
              Clients.ofOneThread(connections),
              client -> new Conversation.StoreTasks(port, client, BATCH));
      String what =
          journaling.name().toLowerCase(Locale.ROOT) + ", " + connections + " × batches of 100";
      Figure figure = Figure.of(name(), driven.describe(what), driven.load());
      double rate = driven.load().perSecond();
      setting.add(
          connections > 1 && journaling == Journaling.STRICT
              ? figure.withTarget("≥ 150,000/s", rate >= 150_000)
              : figure);
    }
  }
}
