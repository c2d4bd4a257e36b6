package io.millrace.bench;

import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import io.millrace.store.StoreOptions.Journaling;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;

/** Creation of queue tasks in bulk through the command interface. */
final class QueuesCreate extends Scenario {
  private static final String QUEUE = "shell-0";
  private static final double TARGET = 50_000;

  QueuesCreate() {
    super(
        "queues-create",
        "queue tasks created over HTTP, " + Conversation.Repeated.BATCH + " in a request");
  }

  @Override
  void run(Setting setting) throws IOException {
    for (int connections : List.of(1, 4)) {
      CommandLoad.Clients clients = CommandLoad.Clients.ofOneThread(connections);
      Path folder = setting.newFolder("queues");
      try (ServerProcess child = ServerProcess.store(setting, folder, Journaling.STRICT)) {
        int port = child.port();
        createQueue(port);
        CommandLoad driven =
            CommandLoad.run(
                setting, child, clients, _ -> Conversation.Repeated.createTasks(port, QUEUE));
        Load load = driven.load();
        setting.add(
            Figure.of(name(), driven.describe("strict, " + clients), load.perSecond(), "tasks/s")
                .withLatency(load.micros(50), load.micros(99))
                .withTarget("≥ 50,000", load.perSecond() >= TARGET));
      }
    }
  }

  private static void createQueue(int port) {
    URI server = URI.create("http://127.0.0.1:" + port);
    try (JsonCalls calls = JsonCalls.open(ClientOptions.at(server))) {
      var _ = BenchQueue.create(calls, "shell", 0);
    }
  }
}
