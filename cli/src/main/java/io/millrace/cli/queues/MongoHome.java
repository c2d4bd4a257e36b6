package io.millrace.cli.queues;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.FileBlobStore;
import io.millrace.cli.remote.QueuesAddress;
import io.millrace.cli.terminal.UsageException;
import io.millrace.mongo.MongoCheck;
import io.millrace.mongo.MongoMove;
import io.millrace.mongo.MongoQueues;
import io.millrace.mongo.MongoQueues.Address;
import io.millrace.queues.registry.Queues;
import io.millrace.queues.runner.RunnerProgram;
import io.millrace.server.queues.CommandQueues;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;

/** Queues in MongoDB. To be used only if the command line asks for them: it loads the driver. */
public final class MongoHome {
  private MongoHome() {}

  /**
   * Where they are.
   *
   * @throws UsageException if the address is not valid
   */
  public static Address address(QueuesAddress options) {
    try {
      return new Address(options.url(), options.credentials(), options.certificates());
    } catch (IllegalArgumentException e) {
      throw new UsageException("--queues: " + e.getMessage());
    }
  }

  /** For the command interface of a server. */
  public static CommandQueues commands(QueuesAddress options) {
    Address address = address(options);
    try {
      MongoQueues queues = MongoQueues.forCommands(address, Clock.systemUTC());
      return new CommandQueues(
          queues, queues.search(), queues.outputs(), queues::documents, queues::watch);
    } catch (IllegalArgumentException e) {
      throw new UsageException("--queues: " + e.getMessage());
    }
  }

  /**
   * For a node.
   *
   * @param process the identity of its process
   */
  public static MongoQueues node(QueuesAddress options, String process) {
    Address address = address(options);
    try {
      return MongoQueues.forNode(address, Clock.systemUTC(), process);
    } catch (IllegalArgumentException e) {
      throw new UsageException("--queues: " + e.getMessage());
    }
  }

  /** What an operator wants to know of the database. */
  public static List<MongoCheck.Finding> check(QueuesAddress options) {
    try {
      return MongoCheck.of(address(options));
    } catch (IllegalArgumentException e) {
      throw new UsageException("--queues: " + e.getMessage());
    }
  }

  /** Moves queues between a database and a store. */
  static MongoMove move(QueuesAddress options, Queues store, BlobStore blobs) {
    try {
      return MongoMove.between(address(options), store, blobs, Clock.systemUTC());
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()));
    }
  }

  /** Runs a task runner, which keeps output in its folder until a task has ended. */
  static void run(QueuesAddress options, Path socket, Path folder) throws InterruptedException {
    FileBlobStore blobs = FileBlobStore.open(folder.resolve("blobs"));
    try (MongoQueues queues = MongoQueues.forRunner(address(options), Clock.systemUTC(), blobs)) {
      RunnerProgram.run(socket, folder, queues, blobs);
    }
  }
}
