package io.millrace.bench;

import io.millrace.store.Journaling;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Add, claim and delete of many tasks in each request. */
final class HttpBatches implements Scenario {
  private static final int BATCH = 100;

  @Override
  public String name() {
    return "http-batches";
  }

  @Override
  public String what() {
    return "an empty store over HTTP, " + BATCH + " tasks in a request";
  }

  @Override
  public void run(Setting setting) throws IOException {
    for (Journaling journaling : List.of(Journaling.STRICT, Journaling.OPPORTUNISTIC)) {
      Path folder = setting.newFolder("batches");
      try (Child child = Child.store(setting, folder, journaling)) {
        for (int connections : List.of(1, 32)) {
          measure(setting, child, journaling, connections);
        }
      } finally {
        Setting.delete(folder);
      }
    }
  }

  private void measure(Setting setting, Child child, Journaling journaling, int connections)
      throws IOException {
    int port = child.port();
    Driven driven =
        Driven.run(
            setting, child, connections, client -> new StoreConversation(port, client, BATCH));
    String what =
        journaling.name().toLowerCase(Locale.ROOT) + ", " + connections + " × batches of 100";
    Figure figure = Figure.of(name(), driven.describe(what), driven.load());
    double rate = driven.load().perSecond();
    setting
        .report()
        .add(
            connections > 1 && journaling == Journaling.STRICT
                ? figure.withTarget("≥ 150,000/s", rate >= 150_000)
                : figure);
  }
}
