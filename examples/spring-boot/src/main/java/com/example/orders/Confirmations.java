package com.example.orders;

import com.example.orders.Orders.Confirmation;
import io.millrace.client.jobs.JobContext;
import io.millrace.spring.MillraceJob;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Works on the jobs that confirm orders. */
@Component
class Confirmations {
  private static final Logger LOG = LoggerFactory.getLogger(Confirmations.class);

  private final JdbcClient database;

  Confirmations(JdbcClient database) {
    this.database = database;
  }

  /**
   * Confirms an order. A job whose application is killed before it has ended is given out again, so
   * this may be called again for an order that is confirmed, and then changes nothing.
   *
   * @return the result of the job
   */
  @MillraceJob(value = "confirmation", concurrency = 4)
  String confirm(Confirmation confirmation, JobContext job) {
    job.progress(50, "writing to " + confirmation.customer());
    database
        .sql("INSERT INTO confirmations (order_id) VALUES (?) ON CONFLICT DO NOTHING")
        .param(confirmation.order())
        .update();
    LOG.info("order {} of {} is confirmed", confirmation.order(), confirmation.customer());
    return "confirmed for " + confirmation.customer();
  }
}
