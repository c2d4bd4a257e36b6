package io.millrace.bench;

import io.millrace.client.HttpTaskStore;
import io.millrace.store.Journaling;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** The same through the Java client, which reads and writes every answer whole. */
final class JavaClient implements Scenario {
  @Override
  public String name() {
    return "java-client";
  }

  @Override
  public String what() {
    return "an empty store over HTTP through the Java client, one task in a request";
  }

  @Override
  public void run(Setting setting) throws IOException, InterruptedException {
    for (Journaling journaling : List.of(Journaling.STRICT, Journaling.OPPORTUNISTIC)) {
      Path folder = setting.newFolder("client");
      try (Child child = Child.store(setting, folder, journaling);
          HttpTaskStore store =
              HttpTaskStore.open(URI.create("http://127.0.0.1:" + child.port()))) {
        for (int callers : List.of(1, 32)) {
          InProcessLoad shape = InProcessLoad.of(callers, 1);
          Load load = shape.run(store, setting.time());
          String what = journaling.name().toLowerCase(Locale.ROOT) + ", " + shape;
          setting.report().add(Figure.of(name(), what, load));
        }
      } finally {
        Setting.delete(folder);
      }
    }
  }
}
