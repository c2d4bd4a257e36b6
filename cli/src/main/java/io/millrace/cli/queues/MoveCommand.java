package io.millrace.cli.queues;

import io.millrace.cli.remote.QueuesAddress;
import io.millrace.cli.remote.ServerAddress;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.ProgressBar;
import io.millrace.cli.terminal.TerminalUser;
import io.millrace.client.HttpBlobStore;
import io.millrace.client.HttpTaskStore;
import io.millrace.mongo.MongoMove;
import io.millrace.mongo.MongoMove.Moved;
import io.millrace.mongo.MongoMove.Selection;
import io.millrace.queues.QueuesException;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.registry.Queues;
import io.millrace.store.StoreException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Moves queues and tasks between a MongoDB database of Disbatch and a server. */
abstract class MoveCommand extends TerminalUser implements Callable<Integer> {
  private static final JsonMapper JSON = new JsonMapper();

  @Mixin private ServerAddress server = new ServerAddress();

  @Parameters(
      paramLabel = "URL",
      description = "The database: mongodb://HOST[:PORT][,...]/DATABASE[?OPTIONS].")
  private String url = "";

  @Option(
      names = "--queue",
      paramLabel = "QUEUE",
      description = "The id or name of a queue; may be repeated. Default: all queues")
  private List<String> queues = List.of();

  @Option(names = "--dry-run", description = "Only counts, and changes nothing.")
  private boolean dryRun;

  @Option(
      names = "--queues-auth",
      paramLabel = "FILE",
      description = "A JSON file with username and password for disbatchd. Default: no credentials")
  private @Nullable Path credentials;

  @Option(
      names = "--queues-ca",
      paramLabel = "FILE",
      description =
          "A file of certificates (PEM) to trust for TLS with the database, which it turns on."
              + " Default: those that Java trusts, if the URL has tls=true")
  private @Nullable Path certificates;

  @Option(names = "--json", description = "Prints JSON.")
  private boolean json;

  private final boolean into;
  private final String verb;

  /** Moves into the store, or out of it. */
  private MoveCommand(boolean into) {
    this.into = into;
    this.verb = into ? "imported" : "exported";
  }

  @Override
  public final Integer call() {
    QueuesAddress address = QueuesAddress.of(url, credentials, certificates);
    var _ = address.isGiven();
    List<Moved> moved;
    try (HttpTaskStore store = HttpTaskStore.open(server.client());
        HttpBlobStore blobs = HttpBlobStore.at(server.client());
        MongoMove move =
            MongoHome.move(
                address, Queues.in(store, Clock.systemUTC(), new SecureRandom()), blobs);
        ProgressBar bar = new ProgressBar(terminal(), "tasks " + verb)) {
      Selection selection = new Selection(queues, dryRun);
      moved =
          into ? move.importQueues(selection, bar::show) : move.exportQueues(selection, bar::show);
    } catch (InvalidRequestException e) {
      throw new CommandException(ExitCode.REFUSED, String.valueOf(e.getMessage()), e);
    } catch (QueuesException | StoreException e) {
      throw new CommandException(
          ExitCode.FAILURE,
          e.getMessage() + "; nothing is lost: the same command goes on where it stopped",
          e);
    }
    print(moved);
    return moved.stream().allMatch(each -> each.problems().isEmpty())
        ? ExitCode.OK
        : ExitCode.UNSUCCESSFUL;
  }

  private void print(List<Moved> moved) {
    if (json) {
      ArrayNode all = JSON.createArrayNode();
      for (Moved each : moved) {
        ObjectNode line = all.addObject().put("name", each.name()).put("threads", each.threads());
        line.put("waiting", each.waiting()).put("held", each.held());
        line.put("finished", each.finished()).put("active", each.active());
        ArrayNode problems = line.putArray("problems");
        each.problems().forEach(problems::add);
      }
      out().println(all);
      return;
    }
    for (Moved each : moved) {
      out()
          .printf(
              "queue %s: %d waiting, %d held and %d finished tasks %s%s%n",
              each.name(),
              each.waiting(),
              each.held(),
              each.finished(),
              dryRun ? "would be " + verb : verb,
              each.active() == 0
                  ? ""
                  : "; %d that are claimed or running stay until they have finished"
                      .formatted(each.active()));
      each.problems().forEach(problem -> out().println("  " + problem));
      if (!dryRun && each.threads() != null && each.threads() > 0) {
        out()
            .println(
                "  its threads were " + each.threads() + "; there they are 0 until you set them");
      }
    }
  }

  /** {@code queues import}. */
  @Command(
      name = "import",
      description = {
        "Takes queues, waiting and finished tasks and their outputs from a MongoDB database of"
            + " Disbatch 4 into the store. Tasks keep their ids, and are marked in the database, so"
            + " that nodes of Disbatch leave them alone.",
        "Claimed and running tasks are left alone: repeat the command when they have finished. An"
            + " import that was interrupted goes on where it stopped. New queues get threads 0.",
        "Exits with 6 if something could not be moved."
      })
  static final class Import extends MoveCommand {
    Import() {
      super(true);
    }
  }

  /** {@code queues export}. */
  @Command(
      name = "export",
      description = {
        "Moves queues and their waiting tasks from the store into a MongoDB database of Disbatch"
            + " 4, and copies finished tasks with their outputs. Tasks keep their ids.",
        "Claimed and running tasks are left alone. An export that was interrupted goes on where it"
            + " stopped. New queues get threads 0.",
        "Exits with 6 if something could not be moved."
      })
  static final class Export extends MoveCommand {
    Export() {
      super(false);
    }
  }
}
