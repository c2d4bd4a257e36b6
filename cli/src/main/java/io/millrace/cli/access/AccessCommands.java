package io.millrace.cli.access;

import io.millrace.cli.remote.Arguments;
import io.millrace.cli.remote.CommandGroup;
import io.millrace.cli.remote.Fields;
import io.millrace.cli.remote.SecretFile;
import io.millrace.cli.remote.ServerCommand;
import io.millrace.cli.terminal.Durations;
import io.millrace.cli.terminal.Terminal;
import io.millrace.cli.terminal.UsageException;
import io.millrace.client.JsonCalls;
import io.millrace.client.RejectedException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code millrace access}: the commands on principals, their keys and roles. */
@Command(
    name = "access",
    description = "Manages who may use a server: principals, their keys, roles and reach.",
    addMethodSubcommands = false)
public final class AccessCommands extends CommandGroup {
  private static final String PRINCIPALS = "/access/principals";
  private static final String KEYS = "/access/keys";
  private static final String SESSIONS = "/access/sessions";
  private static final Fields.Columns PRINCIPAL_COLUMNS =
      new Fields.Columns()
          .fields("name", "roles")
          .with("REACH", principal -> reach(principal.path("reach")))
          .fields("rate", "password", "disabled", "note");
  private static final Fields.Columns KEY_COLUMNS =
      new Fields.Columns()
          .fields("prefix", "principal", "name", "created", "expires")
          .field("LAST USED", "last_used");
  private static final Fields.Columns SESSION_COLUMNS =
      new Fields.Columns()
          .fields("prefix", "principal", "key", "address", "created", "expires")
          .field("LAST USED", "last_used");

  /** The group with its commands. */
  public CommandLine group() {
    return with(
        "list",
        "show",
        "create",
        "key",
        "keys",
        "revoke",
        "sessions",
        "endSession",
        "roles",
        "set",
        "delete",
        "me");
  }

  /** Options for the reach of a principal. */
  static final class ReachOptions {
    @Option(
        names = "--groups",
        split = ",",
        paramLabel = "PREFIX",
        description = "Only groups and collections of the store with these prefixes.")
    private @Nullable List<String> groups;

    @Option(
        names = "--queues",
        split = ",",
        paramLabel = "PREFIX",
        description = "Only queues whose names have these prefixes.")
    private @Nullable List<String> queues;

    @Option(
        names = "--types",
        split = ",",
        paramLabel = "PREFIX",
        description = "Only job types with these prefixes.")
    private @Nullable List<String> types;

    @Option(
        names = "--graph",
        split = ",",
        paramLabel = "ID",
        description = "Only these graph nodes and what is below them.")
    private @Nullable List<String> graph;

    @Option(
        names = "--blobs",
        split = ",",
        paramLabel = "PREFIX",
        description = "Only blobs whose names have these prefixes.")
    private @Nullable List<String> blobs;

    @Option(
        names = "--cluster",
        split = ",",
        paramLabel = "PREFIX",
        description =
            "Only locks, permits, partitions and reports of the cluster with these prefixes.")
    private @Nullable List<String> cluster;

    /** The reach; null for no limit. */
    @Nullable ObjectNode reach() {
      ObjectNode reach = ServerCommand.object();
      add(reach, "groups", groups);
      add(reach, "queues", queues);
      add(reach, "types", types);
      add(reach, "graph", graph);
      add(reach, "blobs", blobs);
      add(reach, "cluster", cluster);
      return reach.isEmpty() ? null : reach;
    }

    private static void add(ObjectNode reach, String name, @Nullable List<String> prefixes) {
      if (prefixes != null) {
        ArrayNode array = reach.putArray(name);
        prefixes.forEach(array::add);
      }
    }
  }

  /** Options for a new key and where it is written. */
  static final class KeyOptions {
    @Option(names = "--key-name", paramLabel = "TEXT", description = "A name for the key.")
    private @Nullable String name;

    @Option(
        names = "--expires",
        paramLabel = "TIME",
        converter = Durations.class,
        description = "How long the key is valid, for example 90d. Default: no limit")
    private @Nullable Duration expires;

    @Option(
        names = "--key-file",
        paramLabel = "FILE",
        description =
            "Writes the key to this file, which only its owner can read, instead of printing it.")
    private @Nullable Path file;

    ObjectNode key() {
      ObjectNode key = ServerCommand.object();
      if (name != null) {
        key.put("name", name);
      }
      if (expires != null) {
        key.put("expires", Instant.now().plus(expires).toString());
      }
      return key;
    }

    boolean isGiven() {
      return name != null || expires != null || file != null;
    }

    /** Shows a key that the server has just made: the only time that anybody sees it. */
    void show(ServerCommand server, JsonNode response, JsonNode key, Terminal terminal) {
      if (file != null) {
        SecretFile.write(file, key.path("key").asString());
        ((ObjectNode) key).remove("key");
        server.print(response, "key " + key.path("prefix").asString() + " is in " + file);
        return;
      }
      if (!server.json()) {
        terminal.say("This key is shown once; keep it in a file that only its user can read.");
      }
      server.print(response, key.path("key").asString());
    }
  }

  private static String path(String name) {
    return PRINCIPALS + "/" + JsonCalls.part(name);
  }

  private static ArrayNode words(List<String> words) {
    ArrayNode array = ServerCommand.object().putArray("words");
    words.forEach(array::add);
    return array;
  }

  private static String reach(JsonNode reach) {
    if (!reach.isObject()) {
      return "everything";
    }
    List<String> parts = new ArrayList<>();
    reach
        .properties()
        .forEach(area -> {
          if (!area.getValue().isEmpty()) {
            parts.add(area.getKey() + ": " + Fields.text(area.getValue()));
          }
        });
    return parts.isEmpty() ? "nothing" : String.join("; ", parts);
  }

  @Command(name = "list", description = "Lists the principals.")
  int list(@Mixin ServerCommand server) {
    return server.perform(calls -> server.printRows(calls.get(PRINCIPALS), PRINCIPAL_COLUMNS));
  }

  @Command(name = "keys", description = "Lists the keys of all principals, by prefix.")
  int keys(@Mixin ServerCommand server) {
    return server.perform(calls -> server.printRows(calls.get(KEYS), KEY_COLUMNS));
  }

  @Command(name = "show", description = "Shows a principal and its keys.")
  int show(
      @Mixin ServerCommand server,
      @Parameters(paramLabel = "NAME", description = "The principal.") String name) {
    return server.perform(calls -> {
      JsonNode found = ServerCommand.lookUp(() -> calls.get(path(name)));
      if (server.json()) {
        out().println(found);
        return;
      }
      ObjectNode shown = (ObjectNode) found.deepCopy();
      shown.remove("keys");
      Fields.print(out(), shown.put("reach", reach(found.path("reach"))));
      if (!found.path("keys").isEmpty()) {
        out().println();
        KEY_COLUMNS.print(out(), found.path("keys"));
      }
    });
  }

  @Command(
      name = "create",
      description = {
        "Creates a principal and prints its first key.",
        "With --password-file, it gets a password, and a key only if --key-name, --expires or"
            + " --key-file is given."
      })
  int create(
      @Mixin ServerCommand server,
      @Option(
              names = {"-r", "--role"},
              required = true,
              split = ",",
              paramLabel = "ROLE",
              description = "viewer, submitter, operator, admin or worker; can be repeated.")
          List<String> roles,
      @Mixin ReachOptions reach,
      @Mixin KeyOptions keyOptions,
      @Option(names = "--note", paramLabel = "TEXT", description = "A note for people.")
          @Nullable String note,
      @Option(
              names = "--rate",
              paramLabel = "N",
              description = "The maximum number of requests a second for each key.")
          @Nullable String rate,
      @Option(
              names = "--password-file",
              paramLabel = "FILE",
              description =
                  "A file with a password of at least 10 characters; - is standard input.")
          @Nullable String passwordFile,
      @Parameters(paramLabel = "NAME", description = "The name of the principal.") String name) {
    return server.perform(calls -> {
      ObjectNode fields = ServerCommand.object().put("name", name);
      fields.set("roles", words(roles));
      fields.set("reach", reach.reach());
      if (note != null) {
        fields.put("note", note);
      }
      if (passwordFile != null) {
        fields.put("password", password(passwordFile));
      }
      if (rate != null) {
        fields.set("rate", Arguments.limit("--rate", rate));
      }
      if (passwordFile == null || keyOptions.isGiven()) {
        fields.set("key", keyOptions.key());
      }
      JsonNode created = calls.post(PRINCIPALS, fields);
      if (created.has("key")) {
        keyOptions.show(server, created, created.path("key"), terminal());
      } else {
        server.print(created, "created principal " + name);
      }
    });
  }

  private String password(String file) {
    String password = Arguments.text("--password-file: ", file, terminal()).strip();
    if (password.isEmpty()) {
      throw new UsageException("--password-file: " + file + " is empty");
    }
    return password;
  }

  @Command(name = "key", description = "Creates another key for a principal and prints it.")
  int key(
      @Mixin ServerCommand server,
      @Mixin KeyOptions keyOptions,
      @Parameters(paramLabel = "NAME", description = "The principal.") String name) {
    return server.perform(calls -> {
      JsonNode key =
          ServerCommand.orNotFound(() -> calls.post(path(name) + "/keys", keyOptions.key()));
      keyOptions.show(server, key, key, terminal());
    });
  }

  @Command(
      name = "revoke",
      description =
          "Revokes keys. They stop working at once, even on open streams and connections.")
  int revoke(
      @Mixin ServerCommand server,
      @Parameters(arity = "1..*", paramLabel = "PREFIX", description = "The prefixes of the keys.")
          List<String> prefixes) {
    return server.run(calls ->
        server.each(
            prefixes, prefix -> calls.delete(KEYS + "/" + JsonCalls.part(prefix)), _ -> "revoked"));
  }

  @Command(name = "sessions", description = "Lists the sessions of browsers, by prefix.")
  int sessions(@Mixin ServerCommand server) {
    return server.perform(calls -> server.printRows(calls.get(SESSIONS), SESSION_COLUMNS));
  }

  @Command(
      name = "end-session",
      description = "Ends sessions. Their browsers are signed out at once, even on open streams.")
  int endSession(
      @Mixin ServerCommand server,
      @Parameters(
              arity = "1..*",
              paramLabel = "PREFIX",
              description = "The prefixes of the sessions.")
          List<String> prefixes) {
    return server.run(calls ->
        server.each(
            prefixes,
            prefix -> calls.delete(SESSIONS + "/" + JsonCalls.part(prefix)),
            _ -> "ended"));
  }

  @Command(
      name = "roles",
      description = {
        "Sets the roles and the reach of a principal.",
        "Without --groups, --queues, --types, --graph, --blobs and --cluster, the roles apply"
            + " everywhere."
      })
  int roles(
      @Mixin ServerCommand server,
      @Option(
              names = {"-r", "--role"},
              required = true,
              split = ",",
              paramLabel = "ROLE",
              description = "viewer, submitter, operator, admin or worker; can be repeated.")
          List<String> roles,
      @Mixin ReachOptions reach,
      @Parameters(paramLabel = "NAME", description = "The principal.") String name) {
    return server.perform(calls -> {
      ObjectNode fields = ServerCommand.object();
      fields.set("roles", words(roles));
      fields.set("reach", reach.reach());
      change(server, calls, name, fields);
    });
  }

  @Command(
      name = "set",
      description = "Changes the note or the password of a principal, or disables it.")
  int set(
      @Mixin ServerCommand server,
      @Option(names = "--note", paramLabel = "TEXT", description = "A note for people.")
          @Nullable String note,
      @Option(
              names = "--rate",
              paramLabel = "N",
              description =
                  "The maximum number of requests a second for each key; none for no limit.")
          @Nullable String rate,
      @Option(
              names = "--password-file",
              paramLabel = "FILE",
              description = "A file with a new password; - is standard input.")
          @Nullable String passwordFile,
      @Option(names = "--no-password", description = "Removes the password.") boolean noPassword,
      @Option(
              names = "--disable",
              description =
                  "Disables the principal: its credentials are rejected until it is enabled again.")
          boolean disable,
      @Option(names = "--enable", description = "Enables the principal again.") boolean enable,
      @Parameters(paramLabel = "NAME", description = "The principal.") String name) {
    if ((disable && enable) || (noPassword && passwordFile != null)) {
      throw new UsageException("these options exclude each other");
    }
    return server.perform(calls -> {
      ObjectNode fields = ServerCommand.object();
      if (note != null) {
        fields.put("note", note);
      }
      if (passwordFile != null) {
        fields.put("password", password(passwordFile));
      } else if (noPassword) {
        fields.putNull("password");
      }
      if (rate != null) {
        fields.set("rate", Arguments.limit("--rate", rate));
      }
      if (disable || enable) {
        fields.put("disabled", disable);
      }
      if (fields.isEmpty()) {
        throw new UsageException("nothing to change: give an option");
      }
      change(server, calls, name, fields);
    });
  }

  private static void change(
      ServerCommand server, JsonCalls calls, String name, ObjectNode fields) {
    JsonNode changed = ServerCommand.orNotFound(() -> calls.patch(path(name), fields));
    server.print(changed, "changed principal " + name);
  }

  @Command(
      name = "delete",
      description = "Deletes principals and all their keys, which stop working at once.")
  int delete(
      @Mixin ServerCommand server,
      @Parameters(arity = "1..*", paramLabel = "NAME", description = "The principals.")
          List<String> names) {
    return server.run(
        calls -> server.each(names, name -> calls.delete(path(name)), _ -> "deleted"));
  }

  @Command(name = "me", description = "Shows the principal of your credentials and what it may do.")
  int me(@Mixin ServerCommand server) {
    return server.perform(calls -> {
      JsonNode me = calls.get("/access/me");
      if (me.path("roles").isEmpty() && me.path("principal").asString("").equals("unknown")) {
        // The route serves everybody, so that pages can ask who they are before they sign in.
        throw new RejectedException(401, "the server does not know these credentials");
      }
      if (server.json()) {
        out().println(me);
      } else {
        ObjectNode shown = ((ObjectNode) me).put("reach", reach(me.path("reach")));
        // Of use to browsers only.
        shown.remove(List.of("csrf", "sign_in"));
        Fields.print(out(), shown);
      }
    });
  }
}
