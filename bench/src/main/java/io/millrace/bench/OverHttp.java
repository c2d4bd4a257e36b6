package io.millrace.bench;

import io.millrace.store.Journaling;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** An empty store over HTTP, one task in a request, beside Redis, beanstalkd and an echo. */
final class OverHttp implements Scenario {
  private static final int MANY = 32;

  /** Server and peers take turns, as the speed of a disk wanders. */
  private static final int ROUNDS = 2;

  @Override
  public String name() {
    return "http";
  }

  @Override
  public String what() {
    return "an empty store over HTTP, one task in a request, beside Redis, beanstalkd and an echo";
  }

  /** Starts a peer in a folder; null where it is not installed. */
  private interface Start {
    @Nullable Child in(Path folder) throws IOException;
  }

  @Override
  public void run(Setting setting) throws IOException {
    double echo = echo(setting);
    Path folder = setting.newFolder("http");
    try (Child child = Child.store(setting, folder, Journaling.STRICT)) {
      strict(setting, child, echo);
    } finally {
      Setting.delete(folder);
    }
    folder = setting.newFolder("http");
    try (Child child = Child.store(setting, folder, Journaling.OPPORTUNISTIC)) {
      double many = store(setting, child, "opportunistic", MANY);
      compare(setting, many, echo, "the echo, 32 connections", 0);
      store(setting, child, "opportunistic", 1);
    } finally {
      Setting.delete(folder);
    }
  }

  private void strict(Setting setting, Child child, double echo) throws IOException {
    double strict = 0;
    double redis = 0;
    double beanstalkd = 0;
    for (int round = 0; round < ROUNDS; round++) {
      redis += redis(setting, MANY) / ROUNDS;
      strict += store(setting, child, "strict", MANY) / ROUNDS;
      beanstalkd += beanstalkd(setting) / ROUNDS;
    }
    compare(setting, strict, redis, "Redis, 32 connections", 0.9);
    compare(setting, strict, beanstalkd, "beanstalkd, 32 connections", 3);
    compare(setting, strict, echo, "the echo, 32 connections", 0);
    double redisAlone = redis(setting, 1);
    compare(setting, store(setting, child, "strict", 1), redisAlone, "Redis, 1 connection", 0);
  }

  private void compare(Setting setting, double ours, double theirs, String to, double target) {
    if (theirs > 0) {
      double ratio = ours / theirs;
      Figure figure =
          Figure.of(name(), "  beside " + to, ours, "lifecycles/s").withRatio(ratio, to);
      setting.report().add(target > 0 ? figure.withTarget("≥ " + target, ratio >= target) : figure);
    }
  }

  private double echo(Setting setting) throws IOException {
    try (Child child = Child.echo(setting)) {
      int port = child.port();
      return Driven.run(setting, child, MANY, client -> new EchoConversation(port, client))
          .report(setting, name(), "echo × 3, 32 connections");
    }
  }

  private double store(Setting setting, Child child, String kind, int connections)
      throws IOException {
    int port = child.port();
    return Driven.run(setting, child, connections, client -> new StoreConversation(port, client, 1))
        .report(setting, name(), kind + ", " + connections + " connections");
  }

  private double redis(Setting setting, int connections) throws IOException {
    String what = "Redis, appendfsync always, " + connections + " connections";
    return peer(setting, what, connections, Child::redis, RedisConversation::new);
  }

  private double beanstalkd(Setting setting) throws IOException {
    String what = "beanstalkd -f 0, " + MANY + " connections";
    return peer(setting, what, MANY, Child::beanstalkd, _ -> new BeanstalkConversation());
  }

  /** Lifecycles a second; 0 where the peer is not installed. */
  private double peer(
      Setting setting,
      String what,
      int connections,
      Start start,
      IntFunction<Conversation> conversations)
      throws IOException {
    Path folder = setting.newFolder("peer");
    try (Child child = start.in(folder)) {
      if (child == null) {
        setting.report().say(name(), what + ": left out, as it is not installed");
        return 0;
      }
      return Driven.run(setting, child, connections, conversations).report(setting, name(), what);
    } finally {
      Setting.delete(folder);
    }
  }
}
