package com.example.orders;

import io.millrace.client.jobs.JobKind;
import io.millrace.spring.outbox.JobOutbox;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Takes orders, and shows them with their confirmations. */
@RestController
public class Orders {
  /** The payload of the job that confirms an order. */
  public record Confirmation(long order, String customer) {}

  /** Jobs with such a payload, of the type that {@link Confirmations} works on. */
  static final JobKind<Confirmation, String> CONFIRMATION =
      JobKind.of("confirmation", Confirmation.class, String.class);

  private static final int STOCK = 100;

  private final JdbcClient database;
  private final JobOutbox outbox;

  Orders(JdbcClient database, JobOutbox outbox) {
    this.database = database;
    this.outbox = outbox;
  }

  record NewOrder(String customer, int pieces) {}

  record Order(long id, String customer, int pieces, boolean confirmed) {}

  /** Stores an order together with the job that confirms it: both are there, or neither is. */
  @PostMapping("/orders")
  @ResponseStatus(HttpStatus.CREATED)
  @Transactional
  public Order take(@RequestBody NewOrder order) {
    long id =
        database
            .sql("INSERT INTO orders (customer, pieces) VALUES (?, ?) RETURNING id")
            .params(order.customer(), order.pieces())
            .query(Long.class)
            .single();
    outbox.submit(CONFIRMATION, new Confirmation(id, order.customer()));
    if (order.pieces() > STOCK) {
      // Rolls back the order and its job.
      throw new ResponseStatusException(HttpStatus.CONFLICT, "there are only " + STOCK + " pieces");
    }
    return new Order(id, order.customer(), order.pieces(), false);
  }

  @GetMapping("/orders")
  public List<Order> all() {
    return database
        .sql(
            """
            SELECT id, customer, pieces,
              EXISTS (SELECT 1 FROM confirmations WHERE order_id = orders.id) AS confirmed
            FROM orders ORDER BY id
            """)
        .query(Order.class)
        .list();
  }
}
