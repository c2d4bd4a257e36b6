package io.millrace.server.queues;

import io.millrace.blobs.BlobStore;
import io.millrace.queues.OutputReader;
import io.millrace.queues.Queues;
import io.millrace.queues.QueuesException;
import io.millrace.queues.search.TaskSearch;
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
    TaskSearch search = TaskSearch.in(queues);
    UserDocuments documents = new UserDocuments(store);

    new NodeRoutes(queues.nodes()).mount(mount);
    new ConfigRoutes(queues.config()).mount(mount);
    QueueRoutes queueRoutes = new QueueRoutes(queues.queues(), plugins);
    queueRoutes.mount(mount);
    TaskRoutes taskRoutes = new TaskRoutes(queues.tasks(), queueRoutes, documents, shapes);
    taskRoutes.mount(mount);
    new SearchRoutes(search, shapes).mount(mount);
    new WaitRoute(queues).mount(mount);
    new OutputRoutes(taskRoutes, outputs).mount(mount);
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
