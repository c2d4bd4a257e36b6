package io.millrace.wire;

import io.millrace.store.Change;
import io.millrace.store.Commit;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import java.util.ArrayList;
import java.util.List;

/**
 * The data of the events on {@code GET /store/changes}. Each is one line of JSON. Every {@code
 * read} method throws {@link WireException} where the text is not of the form. All methods may be
 * called by any thread.
 */
public final class Stream {
  /**
   * The first event: where the stream begins. Its data is that of {@link Answers#write(Position,
   * long)}.
   */
  public static final String START = "start";

  /** An event for one commit. */
  public static final String COMMIT = "commit";

  /** The last event where the stream cannot go on: its position is lost. */
  public static final String LOST = "lost";

  private Stream() {}

  /** The data of a {@link #COMMIT} event. */
  public static byte[] write(Commit commit, DataForm form) {
    return JsonText.write(json -> {
      json.writeStartObject();
      json.writeStringProperty("position", commit.position().toString());
      json.writeNumberProperty("time", commit.timeMillis());
      json.writeNumberProperty("clientid", ClientIds.shown(commit.client().client()));
      if (!commit.client().principal().isEmpty()) {
        json.writeStringProperty("principal", commit.client().principal());
      }
      if (commit.override()) {
        json.writeBooleanProperty("override", true);
      }
      json.writeArrayPropertyStart("changes");
      for (Change change : commit.changes()) {
        ChangeForm.write(json, change, commit.timeMillis(), form);
      }
      json.writeEndArray();
      json.writeEndObject();
    });
  }

  /** Reads what {@link #write(Commit, DataForm)} wrote. */
  public static Commit readCommit(byte[] data) {
    return JsonInput.read(
        data,
        in -> {
          Position position = null;
          long time = 0;
          long client = 0;
          String principal = Owner.ANYONE;
          boolean override = false;
          List<Change> changes = new ArrayList<>();
          in.object();
          for (String name = in.field(); name != null; name = in.field()) {
            switch (name) {
              case "position" -> position = Positions.read(in);
              case "time" -> time = in.integer(Long.MIN_VALUE, Long.MAX_VALUE);
              case "clientid" -> client = ClientIds.read(in);
              case "principal" -> principal = in.text();
              case "override" -> override = in.truth();
              case "changes" -> changes = Lists.read(in, ChangeForm::read);
              default -> in.skip();
            }
          }
          if (position == null) {
            throw in.lacking("is a commit without a position");
          }
          return new Commit(position, time, new Owner(principal, client), override, changes);
        });
  }

  /** Reads the position in the data of a {@link #START} event. */
  public static Position readPosition(byte[] data) {
    return JsonInput.read(
        data,
        in -> {
          Position position = null;
          in.object();
          for (String name = in.field(); name != null; name = in.field()) {
            if (name.equals("position")) {
              position = Positions.read(in);
            } else {
              in.skip();
            }
          }
          if (position == null) {
            throw in.lacking("needs a position");
          }
          return position;
        });
  }

  /** The data of a {@link #LOST} event. */
  public static byte[] write(PositionLostException lost) {
    return JsonText.write(json -> {
      json.writeStartObject();
      json.writeStringProperty("why", Words.of(lost.why()));
      json.writeStringProperty("position", lost.position().toString());
      json.writeStringProperty("error", String.valueOf(lost.getMessage()));
      json.writeEndObject();
    });
  }

  /** Reads what {@link #write(PositionLostException)} wrote. */
  public static PositionLostException readLost(byte[] data) {
    return JsonInput.read(
        data,
        in -> {
          PositionLostException.Why why = null;
          Position position = null;
          String message = "";
          in.object();
          for (String name = in.field(); name != null; name = in.field()) {
            switch (name) {
              case "why" -> why = Words.why(in);
              case "position" -> position = Positions.read(in);
              case "error" -> message = in.text();
              default -> in.skip();
            }
          }
          if (why == null || position == null) {
            throw in.lacking("needs why and a position");
          }
          return new PositionLostException(why, position, message);
        });
  }
}
