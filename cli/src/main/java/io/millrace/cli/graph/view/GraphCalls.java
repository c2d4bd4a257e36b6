package io.millrace.cli.graph.view;

import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.terminal.CommandException;
import io.millrace.cli.terminal.ExitCode;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import io.millrace.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/** Calls of the graph API that several commands share. Thread-safe. */
public final class GraphCalls {
  /** The path of all nodes. */
  public static final String NODES = "/v1/nodes";

  private static final int CONFLICT = 409;

  /** How often pages are read from the beginning before giving up. */
  private static final int ATTEMPTS = 5;

  private final JsonCalls calls;

  /** Calls over this connection. */
  public GraphCalls(JsonCalls calls) {
    this.calls = calls;
  }

  /** The path of a node. */
  public static String path(String id) {
    return NODES + "/" + JsonCalls.part(id);
  }

  /** The path of a value of a node's data. */
  public static String path(String id, String key) {
    return path(id) + "/data/" + JsonCalls.part(key);
  }

  /** What a node wrote to standard error; empty for more than a page, and for other types. */
  public static String stderr(JsonCalls calls, String id) {
    try {
      JsonNode page = calls.get(path(id, "stderr"));
      return page.has("pagination") ? "" : page.path("data").asString("");
    } catch (StoreException _) {
      return "";
    }
  }

  /**
   * A node's metadata.
   *
   * @throws CommandException if there is no such node
   */
  public JsonNode find(String id) {
    return ServerCommand.lookUp(() -> calls.read(path(id)));
  }

  /**
   * The nodes that match a query, in the order of their ids, from one version of the graph.
   *
   * @param query parameters joined by {@code &}; may be empty
   * @param reader converts the metadata of a node
   */
  public <T> List<T> nodes(String query, Function<JsonNode, T> reader) {
    return unchanged(() -> pages(NODES, query, "nodes", reader));
  }

  /**
   * The keys of a node's data.
   *
   * @throws CommandException if there is no such node
   */
  public List<String> keys(String id) {
    return ServerCommand.lookUp(
        () -> unchanged(() -> pages(path(id) + "/data", "", "keys", key -> key.asString(""))));
  }

  /** Reads pages, and begins again if the server no longer keeps what the first ones came from. */
  private static <T> T unchanged(Supplier<T> pages) {
    for (int attempt = 1; ; attempt++) {
      try {
        return pages.get();
      } catch (RejectedException e) {
        if (e.status() != CONFLICT || attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private <T> List<T> pages(String path, String query, String field, Function<JsonNode, T> reader) {
    List<T> found = new ArrayList<>();
    Page where = Page.BEGIN;
    while (where != null) {
      JsonNode page = calls.read(where.of(path, query));
      JsonNode list = page.isArray() ? page : page.path(field);
      list.forEach(one -> found.add(reader.apply(one)));
      where = Page.after(page);
    }
    return found;
  }

  /**
   * A complete value of a node's data.
   *
   * @throws CommandException if there is no such node or no such data
   */
  public JsonNode value(String id, String key) {
    return ServerCommand.lookUp(() -> unchanged(() -> value(path(id, key))));
  }

  private JsonNode value(String path) {
    JsonNode page = calls.read(path);
    Page where = Page.after(page);
    if (where == null) {
      return page.path("data");
    }
    StringBuilder text = new StringBuilder(page.path("data").asString(""));
    while (where != null) {
      page = calls.read(where.of(path, ""));
      text.append(page.path("data").asString(""));
      where = Page.after(page);
    }
    return StringNode.valueOf(text.toString());
  }

  /**
   * Adds nodes, all or none.
   *
   * @param nodes an array in the form of the API
   * @return the metadata of each, in the same order
   */
  public JsonNode add(JsonNode nodes) {
    return add(nodes, "");
  }

  /**
   * As {@link #add(JsonNode)}.
   *
   * @param query parameters joined by {@code &}, for example with a unique key; may be empty
   */
  public JsonNode add(JsonNode nodes, String query) {
    JsonNode added = calls.post(query.isEmpty() ? NODES : NODES + "?" + query, nodes);
    boolean duplicate = added.path(0).path("duplicate").asBoolean(false);
    if (!added.isArray() || (added.size() != nodes.size() && !duplicate)) {
      throw new CommandException(
          ExitCode.FAILURE, "the server did not answer with the nodes: " + added);
    }
    return added;
  }

  /**
   * A page of a long response.
   *
   * @param start the server's name for the page; empty for the first
   * @param view the server's name for the version that all pages belong to; empty for the first
   */
  public record Page(String start, String view) {
    /** The first page. */
    public static final Page BEGIN = new Page("", "");

    /** The page after the one in a response; null if that is the last page. */
    public static @Nullable Page after(JsonNode response) {
      JsonNode pagination = response.path("pagination");
      String next = pagination.path("next").asString("");
      return next.isEmpty() ? null : new Page(next, pagination.path("pid").asString(""));
    }

    /** The same page, in the view that a response names, if it names one. */
    public Page in(JsonNode response) {
      return new Page(start, response.path("pagination").path("pid").asString(view));
    }

    /**
     * The path of this page.
     *
     * @param query more parameters, joined by {@code &}; may be empty
     */
    public String of(String path, String query) {
      String both = query;
      if (!start.isEmpty() && !view.isEmpty()) {
        both +=
            (query.isEmpty() ? "" : "&")
                + "start="
                + JsonCalls.part(start)
                + "&pid="
                + JsonCalls.part(view);
      }
      return both.isEmpty() ? path : path + "?" + both;
    }
  }
}
