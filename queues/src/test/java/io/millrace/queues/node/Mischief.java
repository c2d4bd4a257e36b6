package io.millrace.queues.node;

import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueuesException;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** What people, machines and bad luck do to a site: tasks come, limits change, processes die. */
final class Mischief {
  private final SimulatedSite site;
  private final NodeChecks checks;
  private final SplittableRandom random;
  private int tasksLeft = 300;

  Mischief(SimulatedSite site, NodeChecks checks) {
    this.site = site;
    this.checks = checks;
    this.random = site.random();
  }

  private Queues operator() {
    return site.operator();
  }

  /** Does one thing. */
  void operate() {
    SimulatedNode node = site.nodes().get(random.nextInt(SimulatedSite.NODES));
    switch (random.nextInt(18)) {
      case 0 -> node.die();
      case 1 -> node.stop();
      case 2 -> node.pause(Duration.ofMillis(random.nextLong(8_000)));
      case 3, 4, 5 -> {
        for (SimulatedNode each : site.nodes()) {
          if (!each.isAlive()) {
            site.start(each);
            break;
          }
        }
      }
      case 6 -> node.hears(!node.hears());
      case 7 -> killRunner();
      case 8 -> node.host().cannotStart(random.nextInt(20) == 0);
      case 9 -> {
        if (!site.isDown() && random.nextInt(10) == 0) {
          site.serverGoes();
        }
      }
      default -> {
        if (!site.isDown()) {
          operateQueues(node);
        }
      }
    }
  }

  private void killRunner() {
    for (SimulatedNode each : site.nodes()) {
      if (!each.host().runners().isEmpty() && random.nextInt(3) == 0) {
        each.host().killOne();
        return;
      }
    }
  }

  private void operateQueues(SimulatedNode node) {
    ObjectId queue = site.queues().get(random.nextInt(site.queues().size()));
    switch (random.nextInt(8)) {
      case 0 -> limit(queue, random.nextInt(6));
      case 1 ->
          operator()
              .nodes()
              .limit(
                  node.host().host().replace("host", "node"),
                  random.nextInt(4) == 0 ? null : random.nextInt(4));
      case 2 ->
          operator()
              .queues()
              .change(
                  queue,
                  old ->
                      new QueueBackend.Change(
                          old.name(),
                          random.nextInt(4) == 0 ? "missing" : "other",
                          old.settings()));
      case 3 -> disturbTask();
      default -> submit(queue);
    }
  }

  private void limit(ObjectId queue, int threads) {
    operator()
        .queues()
        .change(
            queue,
            old ->
                new QueueBackend.Change(
                    old.name(), old.plugin(), old.settings().withThreads(threads)));
  }

  private void submit(ObjectId id) {
    Queue queue = operator().queues().find(id).orElseThrow();
    List<ObjectNode> params = new ArrayList<>();
    for (int i = 0; i < random.nextInt(1, 12) && tasksLeft > 0; i++, tasksLeft--) {
      params.add(JsonNodeFactory.instance.objectNode().put("number", tasksLeft));
    }
    if (!params.isEmpty()) {
      operator().submission().submit(queue, params, Status.QUEUED);
    }
  }

  private void disturbTask() {
    List<String> ids = checks.tasks();
    if (ids.isEmpty()) {
      return;
    }
    ObjectId task = new ObjectId(ids.get(random.nextInt(ids.size())));
    try {
      switch (random.nextInt(3)) {
        case 0 -> operator().tasks().terminate(task);
        case 1 -> operator().tasks().hold(task, Status.CANCELLED, "");
        default -> operator().tasks().requeue(task);
      }
    } catch (QueuesException _) {
      // It is not in a state for that.
    }
  }

  /** Puts everything so that what is left can end. */
  void endTrouble() {
    site.endTrouble();
    for (SimulatedNode node : site.nodes()) {
      operator().nodes().limit(node.host().host().replace("host", "node"), random.nextInt(1, 4));
    }
    for (ObjectId queue : site.queues()) {
      operator()
          .queues()
          .change(
              queue,
              old -> new QueueBackend.Change(old.name(), "work", old.settings().withThreads(4)));
    }
  }

  /**
   * Resumes queues, as an operator does: a node that could not start a runner may say so, and halt
   * a queue, only after the trouble has ended.
   */
  void resumeQueues() {
    site.queues().forEach(queue -> operator().queues().resume(queue));
  }
}
