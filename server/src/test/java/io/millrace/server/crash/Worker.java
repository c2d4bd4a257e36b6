package io.millrace.server.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.client.UnreachableException;
import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.When;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * A client that adds, claims, deletes and moves tasks until the server is gone. What it was not
 * told it asks again under the same request id when there is a server once more.
 */
final class Worker {
  private static final int GROUPS = 4;
  private static final Duration LEASE = Duration.ofHours(1);

  private final Owner me;
  private final Ledger ledger;
  private final SplittableRandom random;
  private final List<Task> claimed = new ArrayList<>();
  private @Nullable Command unknown;
  private @Nullable Boolean happened;
  private List<Task> found = List.of();
  private int sent;

  Worker(int number, Ledger ledger) {
    this.me = Owner.client(number);
    this.ledger = ledger;
    this.random = new SplittableRandom(number);
  }

  /** Looks for traces of the command whose answer was lost: all of them or none. */
  void look(Contents contents) {
    happened = null;
    switch (unknown) {
      case null -> {}
      case Claim _ -> {
        found =
            contents.tasks().values().stream()
                .filter(task -> me.equals(task.owner()) && !claimed.contains(task))
                .toList();
        happened = !found.isEmpty();
      }
      case Transaction transaction -> {
        List<Boolean> traces = new ArrayList<>();
        for (Transaction.Add add : transaction.adds()) {
          traces.add(
              ledger.hasSeen(add.data())
                  || contents.tasks().values().stream()
                      .anyMatch(task -> task.data().equals(add.data())));
        }
        for (TaskRef ref : transaction.deletes()) {
          traces.add(!contents.tasks().containsKey(ref.id()));
        }
        for (Transaction.Update update : transaction.updates()) {
          traces.add(!contents.tasks().containsKey(update.task().id()));
        }
        for (Transaction.Renewal renewal : transaction.renewals()) {
          traces.add(!contents.tasks().containsKey(renewal.task().id()));
        }
        for (Transaction.Taking taking : transaction.takings()) {
          traces.add(!contents.tasks().containsKey(taking.task().id()));
        }
        for (Transaction.Put put : transaction.puts()) {
          Document document = contents.documents().get(put.key());
          traces.add(document != null && document.body().equals(put.body()));
        }
        assertThat(traces).as("whole or not at all: %s", transaction).containsOnly(traces.get(0));
        happened = traces.getFirst();
      }
    }
  }

  /** Asks again for the answer that was lost, where one was. */
  void settle(TaskStore store) {
    Command command = unknown;
    if (command == null) {
      return;
    }
    Outcome.Done done = send(store, command).done();
    assertThat(done.repeated()).as("as its traces say: %s", command).isEqualTo(happened);
    if (command instanceof Claim && done.repeated()) {
      assertThat(done.tasks()).containsExactlyInAnyOrderElementsOf(found);
    }
    unknown = null;
    note(command, done);
  }

  /** Works until the server is gone; gives a permit for each answer. */
  void work(TaskStore store, Semaphore answers) {
    while (true) {
      Command command = next();
      Outcome outcome;
      try {
        outcome = send(store, command);
      } catch (OutcomeUnknownException _) {
        unknown = command;
        return;
      } catch (UnreachableException _) {
        return;
      }
      note(command, outcome.done());
      answers.release();
    }
  }

  private static Outcome send(TaskStore store, Command command) {
    return switch (command) {
      case Transaction transaction -> store.commit(transaction);
      case Claim claim -> store.claim(claim);
    };
  }

  private void note(Command command, Outcome.Done done) {
    ledger.acknowledge(command, done);
    if (command instanceof Transaction transaction) {
      claimed.removeIf(task ->
          transaction.deletes().contains(task.ref())
              || transaction.updates().stream().anyMatch(it -> it.task().equals(task.ref()))
              || transaction.renewals().stream().anyMatch(it -> it.task().equals(task.ref())));
    }
    for (Task task : done.tasks()) {
      if (me.equals(task.owner())) {
        claimed.add(task);
      }
    }
  }

  private Command next() {
    String mark = me.client() + "/" + ++sent;
    if (claimed.isEmpty() || random.nextInt(3) == 0) {
      return random.nextBoolean() ? add(mark) : claim(mark);
    }
    Task task = claimed.get(random.nextInt(claimed.size()));
    Transaction.Builder by = Transaction.by(me).requestId(mark);
    return switch (random.nextInt(6)) {
      case 0 -> by.delete(task.ref()).build();
      case 1 -> by.release(task.ref()).build();
      case 2 -> by.renew(task.ref(), LEASE.plusMinutes(random.nextInt(60))).build();
      case 3 -> by.update(task.ref(), Bytes.of(mark + " updated"), When.after(LEASE)).build();
      default -> by.delete(task.ref()).add(group(), mark + " moved").put(progress(mark)).build();
    };
  }

  private Transaction add(String mark) {
    Transaction.Builder by = Transaction.by(me).requestId(mark);
    for (int i = random.nextInt(4); i >= 0; i--) {
      by.add(group(), mark + " part " + i + " ".repeat(random.nextInt(200)));
    }
    return by.put(progress(mark)).build();
  }

  private Claim claim(String mark) {
    return Claim.of(me, group(), LEASE).withCount(1 + random.nextInt(3)).withRequestId(mark);
  }

  private Transaction.Put progress(String mark) {
    DocumentKey key = new DocumentKey(Contents.COLLECTION, "of " + me.client());
    return new Transaction.Put(key, DocumentVersion.ANY, Bytes.of(mark), false);
  }

  private String group() {
    return "group " + random.nextInt(GROUPS);
  }
}
