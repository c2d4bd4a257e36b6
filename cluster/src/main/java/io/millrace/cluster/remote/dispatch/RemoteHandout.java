package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.leader.Board;
import io.millrace.cluster.leader.Handout;
import io.millrace.cluster.leader.Turn;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.Station;
import io.millrace.cluster.partition.PartitionName;

/**
 * Gives out lambdas as a director wants it, and tells it what comes of them. Used by one thread.
 */
public final class RemoteHandout implements Handout {
  private final Station station;
  private final Director director;
  private final Ledger ledger;
  private final Marked marked;
  private final Leftovers leftovers;
  private long generation = -1;
  private boolean ends;

  /** Gives out nothing yet. */
  public RemoteHandout(Station station, Director director) {
    this.station = station;
    this.director = director;
    this.ledger = new Ledger(station);
    this.marked = new Marked(station);
    this.leftovers = new Leftovers(station);
  }

  @Override
  public Result take(Turn turn, Board board) {
    if (turn.generation() != generation) {
      rest();
      begin(turn);
    }
    marked.look(turn);
    leftovers.clear(turn, board, ledger::contains);
    boolean again = director.direct(new TurnDesk(turn));
    ledger.settle(turn, board, view(turn));
    if (again && !ends) {
      // The lock may be taken anew after the next turn only: once is enough.
      ends = true;
      return Result.DIVIDE_ANEW;
    }
    return ledger.isLively() ? Result.BUSY : Result.IDLE;
  }

  private void begin(Turn turn) {
    generation = turn.generation();
    ends = false;
    ledger.begin();
    marked.begin();
    leftovers.begin();
    director.begin(turn.guard());
  }

  @Override
  public void rest() {
    if (generation >= 0) {
      generation = -1;
      director.end();
    }
  }

  private View view(Turn turn) {
    MemberList trusted = turn.members().without(marked.tokens());
    // A listing may be a little old, so an older partition may show only now.
    boolean settled =
        turn.nowMillis() - turn.beganMillis() >= station.terms().lease().toMillis() / 2;
    return new View(trusted, marked.tokens(), leftovers.busy(), leftovers.left(), settled);
  }

  private final class TurnDesk implements Desk {
    private final Turn turn;

    TurnDesk(Turn turn) {
      this.turn = turn;
    }

    @Override
    public View view() {
      return RemoteHandout.this.view(turn);
    }

    @Override
    public void submit(Submission submission) {
      ledger.add(submission);
    }

    @Override
    public void cancel(PartitionName name) {
      ledger.cancel(name);
    }

    @Override
    public void marked(String token) {
      marked.add(token);
    }
  }
}
