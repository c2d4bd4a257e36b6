package io.millrace.server.queues;

import io.millrace.blobs.BlobStore;
import io.millrace.queues.ArchivedTasks;
import io.millrace.queues.OutputReader;
import io.millrace.queues.Queues;
import io.millrace.queues.QueuesException;
import io.millrace.queues.search.ArchiveSearch;
import io.millrace.server.http.Failures;
import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Problems;
import io.millrace.server.http.Routes;
import io.millrace.store.TaskStore;

/** Mounts the command interface of queues under {@code /dci}. */
public final class DciApi {
  private DciApi() {}

  /**
   * Adds the routes.
   *
   * @param queues the queues
   * @param store where they and the documents of users lie
   * @param blobs where long outputs lie
   */
  public static void mount(Routes routes, Queues queues, TaskStore store, BlobStore blobs) {
    Mount mount = new Mount(routes);
    OutputReader outputs = new OutputReader(queues, blobs);
    Shapes shapes = new Shapes(outputs);
    Plugins plugins = new Plugins(queues);
    ArchivedTasks archived = ArchivedTasks.in(blobs);
    ArchiveSearch search = ArchiveSearch.in(queues, archived);
    KnownTasks known = new KnownTasks(queues.tasks(), archived);
    UserDocuments documents = new UserDocuments(store);

    new NodeRoutes(queues.nodes()).mount(mount);
    new ConfigRoutes(queues.config(), queues.nodes()).mount(mount);
    QueueRoutes queueRoutes = new QueueRoutes(queues.queues(), plugins);
    queueRoutes.mount(mount);
    TaskRoutes taskRoutes = new TaskRoutes(queues.tasks(), known, queueRoutes, documents, shapes);
    taskRoutes.mount(mount);
    new SearchRoutes(search, shapes).mount(mount);
    new WaitRoute(queues, archived).mount(mount);
    new OutputRoutes(known, outputs).mount(mount);
    new OldRoutes(queueRoutes, taskRoutes, documents, plugins).mount(mount);
    new OldSearch(search, shapes).mount(mount);
  }

  /** Says what the failures of queues mean to a client. */
  public static void explain(Failures failures) {
    failures.add(
        QueuesException.class,
        e -> Problems.reply(HttpProblem.unavailable(String.valueOf(e.getMessage()), 1)));
  }
}
