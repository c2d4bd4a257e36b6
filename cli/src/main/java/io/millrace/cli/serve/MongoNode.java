package io.millrace.cli.serve;

import io.millrace.cli.queues.MongoHome;
import io.millrace.cli.queues.RunnerCommand.RunnerLaunch;
import io.millrace.cli.remote.QueuesAddress;
import io.millrace.mongo.MongoQueues;
import io.millrace.mongo.MongoQueues.Address;
import io.millrace.queues.node.ExecutionNode;
import io.millrace.queues.node.LocalMachine;
import io.millrace.queues.node.NodeDriver;
import io.millrace.queues.node.Runners;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * An execution node of queues in MongoDB. To be used only if the command line asks for one: it
 * loads the driver.
 *
 * @param node the node
 * @param driver has started it
 */
record MongoNode(ExecutionNode node, NodeDriver driver) {
  /** Starts a node; {@code ready} is called when it first has its configuration. */
  static MongoNode start(LocalNode.NodeSettings settings, QueuesAddress options, Runnable ready) {
    MongoQueues queues = MongoHome.node(options, LocalMachine.look().process());
    Address address = MongoHome.address(options);
    AtomicReference<@Nullable ExecutionNode> started = new AtomicReference<>();
    Runners runners =
        MongoQueues.withBells(
            LocalNode.runners(
                settings, RunnerLaunch.command(address.arguments(), address.environment())),
            signal -> {
              ExecutionNode node = started.get();
              if (node != null) {
                node.notice(signal);
              }
            });
    ExecutionNode node = LocalNode.create(settings, queues, runners, ready);
    started.set(node);
    NodeDriver driver = NodeDriver.start(node, it -> queues.news(it, settings.name()));
    var _ = driver.onEnd().whenComplete((_, _) -> queues.close());
    return new MongoNode(node, driver);
  }
}
